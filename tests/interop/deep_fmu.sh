# A generated FMU validated and simulated by FMPy, beside psdm simulate.
. "$SOURCE/tests/interop/environment.sh"
environment fmpy numpy fmpy
exec "$python" -B "$interop/fmu_peer.py"
