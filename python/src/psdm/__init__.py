"""psdm: exact, calibrated and fast dynamics of robots, numpy arrays in and out.

>>> import psdm
>>> robot = psdm.Robot.shipped("kuka_kr6")
>>> robot.derive()
<psdm.Model of 'kuka_kr6': n = 6, p = 6086, l = 36>
"""

from psdm._library import PsdmError, components, version
from psdm._online import Online
from psdm._report import report
from psdm._terms import Factors, Momentum, SecondDerivatives
from psdm._tool import executable
from psdm.code import Code, CompileInfo, Cost
from psdm.model import BaseParameter, Model, Parameters
from psdm.motion import Motion, Observed, Observer, Simulator
from psdm.results import Calibration, Excitation, Payload, Plan, Reduction, Result, Simulation, load_to_standard
from psdm.robot import Energy, ForwardDerivatives, Friction, InverseDerivatives, Joint, Limits, Pose, Robot, shipped_robots
from psdm.system import Equilibrium, Facts, LinearSystem, Lqr, Mode, SecondOrder

__version__ = version()

__all__ = [
    "BaseParameter", "Calibration", "Code", "CompileInfo", "Cost", "Energy", "Equilibrium", "Excitation", "Factors", "Facts", "ForwardDerivatives", "Friction",
    "InverseDerivatives", "Joint", "Limits", "LinearSystem", "Lqr", "Mode", "Model", "Momentum", "Motion", "Observed", "Observer", "Online", "Parameters", "Payload", "Plan", "Pose",
    "PsdmError", "Reduction", "Result", "Robot", "SecondDerivatives", "SecondOrder", "Simulation", "Simulator", "components", "executable", "load_to_standard", "report",
    "shipped_robots", "version",
]
