import pytest

import cases
import judges

FUNCTIONS = ("inverse", "forward", "mass", "energy", "jacobian", "pose", "regressor", "linearize-inverse", "linearize-forward", "inverse-mass")


@pytest.fixture
def need():
    """need(peer) skips the test when the peer is missing."""
    found = judges.versions()

    def check(peer):
        version, reason = found[peer]
        if version is None:
            pytest.skip(f"PEER MISSING: {peer}: {reason}")
    return check


def pytest_terminal_summary(terminalreporter):
    write = terminalreporter.write_line
    peers, found = list(judges.PEERS), judges.versions()
    write("")
    write(f"seed {cases.SEED} (PSDM_SEED=N to change), {len(cases.RANDOM)} random robots, {cases.STATES} states each; "
          + ", ".join(f"{peer} {version or 'MISSING'}" for peer, (version, _) in found.items()))
    write("")
    write("skipped:")
    reasons = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items()):
        write(f"  {count:4d}  {reason}")
    if not reasons:
        write("     -")
    write("")
    write(f"worst relative differences ({cases.TOLERANCE:g} is let pass), and the robot:")
    write("  " + f"{'':19s}" + "".join(f"{peer:42s}" for peer in peers).rstrip())
    for function in FUNCTIONS:
        cells = [cases.worst.get((peer, function)) for peer in peers]
        write("  " + f"{function:19s}" + "".join(f"{f'{c[0]:.1e}  {c[1]}' if c else '-':42s}" for c in cells).rstrip())
    for peer, (version, reason) in found.items():
        if version is None:
            write(f"PEER MISSING, NOT COMPARED: {peer}: {reason}")
