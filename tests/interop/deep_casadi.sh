# Generated functions loaded by CasADi as external functions: values, derivatives, threads, an optimisation.
. "$SOURCE/tests/interop/environment.sh"
environment casadi numpy casadi
exec "$python" -B "$interop/casadi_peer.py"
