"""Files on which readers disagree, and how each one reads them. Each is the arm below with one thing changed.
docs/peers.md is this table in words."""

ARM = '''<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>
    </inertial>
  </link>
  <link name="lower">
    <inertial>
      <origin xyz="0.1 0.02 0" rpy="0 0 0"/>
      <mass value="1"/>
      <inertia ixx="0.005" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/>
    <child link="upper"/>
    <origin xyz="0 0 0.1" rpy="0 0 0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/>
    <child link="lower"/>
    <origin xyz="0.3 0 0" rpy="0 0 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
</robot>
'''


def changed(*pairs):
    text = ARM
    for old, new in pairs:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    return text


ELBOW = '<joint name="elbow" type="revolute">'
END = "</robot>"
THIRD = '''  <link name="hand"><inertial><mass value="0.5"/><inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
  <joint name="wrist" type="TYPE"><parent link="lower"/><child link="hand"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>MORE</joint>
</robot>'''


def third(type="revolute", more=""):
    return THIRD.replace("TYPE", type).replace("MORE", more)


LOWER = '''<link name="lower">
    <inertial>
      <origin xyz="0.1 0.02 0" rpy="0 0 0"/>
      <mass value="1"/>
      <inertia ixx="0.005" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>'''
UPPER = LOWER.replace("lower", "upper").replace("0.1 0.02 0", "0.1 0 0").replace('value="1"', 'value="2"').replace(
    'ixx="0.005" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"', 'ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"')
BOX = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
MOMENTS = 'ixx="0.005" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"'

# name: (text, who reads it: psdm, Pinocchio, MuJoCo, kdl_parser)
FILES = {
    "the arm itself": (ARM, "psdm pinocchio mujoco kdl"),
    "floating joint": (changed((ELBOW, ELBOW.replace("revolute", "floating"))), "pinocchio kdl"),
    "planar joint": (changed((ELBOW, ELBOW.replace("revolute", "planar"))), "pinocchio mujoco kdl"),
    "unknown joint type": (changed((ELBOW, ELBOW.replace("revolute", "hinge"))), ""),
    "several roots": (changed((END, '  <link name="alone"/>\n</robot>')), "mujoco"),
    "loop: a link with two parents": (changed((END, '<joint name="back" type="fixed"><parent link="base"/><child link="lower"/></joint></robot>')), "kdl"),
    "cycle: no root": (changed((END, '<joint name="back" type="fixed"><parent link="lower"/><child link="base"/></joint></robot>')), ""),
    "xacro expression": (changed(("0 0 0.1", "0 0 ${height}")), ""),
    "xacro element": (changed((END, '<xacro:wheel xmlns:xacro="http://www.ros.org/wiki/xacro" side="left"/></robot>')), "pinocchio mujoco kdl"),
    "mimic": (changed((END, third(more='<mimic joint="elbow" multiplier="-1" offset="0.1"/>'))), "psdm pinocchio mujoco kdl"),
    "mimic of a mimic": (changed((END, third(more='<mimic joint="elbow"/>')), ('0 1 0"/>', '0 1 0"/><mimic joint="shoulder"/>')), "psdm pinocchio mujoco kdl"),
    "mimic of a fixed joint": (changed((END, third(more='<mimic joint="elbow"/>')), (ELBOW, ELBOW.replace("revolute", "fixed"))), "pinocchio mujoco kdl"),
    "mimic of a joint that is not there": (changed((END, third(more='<mimic joint="elbo"/>'))), "pinocchio mujoco kdl"),
    "mimic of itself": (changed((END, third(more='<mimic joint="wrist"/>'))), "pinocchio kdl"),
    "zero axis": (changed(("0 1 0", "0 0 0")), "pinocchio kdl"),
    "zero axis of a fixed joint": (changed((END, third("fixed").replace("0 0 1", "0 0 0"))), "psdm pinocchio mujoco kdl"),
    "document type (DTD)": (changed(('<robot name="arm">', '<!DOCTYPE robot>\n<robot name="arm">')), "pinocchio mujoco kdl"),
    "entity of a DTD": (changed(('<robot name="arm">', '<!DOCTYPE robot [<!ENTITY h "0.1">]>\n<robot name="arm">'), ("0 0 0.1", "0 0 &h;")), ""),
    "inertia not positive definite": (changed((MOMENTS, MOMENTS.replace('ixy="0"', 'ixy="0.1"'))), "psdm pinocchio kdl"),
    "inertia breaks the triangle inequality": (changed((MOMENTS, MOMENTS.replace('izz="0.01"', 'izz="0.1"'))), "psdm pinocchio kdl"),
    "mass without moments": (changed((MOMENTS, 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"')), "psdm pinocchio kdl"),
    "no <inertia>": (changed((f"<inertia {MOMENTS}/>", "")), "psdm pinocchio kdl"),
    "no <mass>": (changed(('<mass value="1"/>', "")), "pinocchio kdl"),
    "no <inertial> on the last moving link": (changed((LOWER, '<link name="lower"/>')), "psdm pinocchio kdl"),
    "no <inertial> in mid-chain": (changed((UPPER, '<link name="upper"/>')), "psdm pinocchio kdl"),
    "no <inertial>, but a <collision>": (changed((LOWER, f'<link name="lower">{BOX}</link>')), "psdm pinocchio mujoco kdl"),
    "negative mass": (changed(('<mass value="1"/>', '<mass value="-1"/>')), "psdm pinocchio kdl"),
    "two links of one name": (changed((END, third("fixed").replace('name="hand"', 'name="lower"'))), ""),
    "two joints of one name": (changed((END, third().replace('name="wrist"', 'name="elbow"'))), "mujoco"),
    "unknown element": (changed((END, "<colour/></robot>")), "psdm pinocchio mujoco kdl"),
    "unknown attribute": (changed((ELBOW, ELBOW.replace("type", 'colour="red" type'))), "psdm pinocchio mujoco kdl"),
    "NaN": (changed(("0.3 0 0", "0.3 nan 0")), "mujoco"),
    "infinity": (changed(("0.3 0 0", "0.3 inf 0")), "mujoco"),
    "two numbers for three": (changed(("0.3 0 0", "0.3 0")), ""),
    "four numbers for three": (changed(("0.3 0 0", "0.3 0 0 0")), ""),
    "decimal comma": (changed(("0.3 0 0", "0,3 0 0")), ""),
    "unit behind a number": (changed(("0.3 0 0", "0.3m 0 0")), ""),
    "no limit on a revolute joint": (changed(('<axis xyz="0 1 0"/>\n    <limit lower="-1" upper="1" effort="10" velocity="1"/>', '<axis xyz="0 1 0"/>')), "psdm mujoco"),
    "lower limit above the upper": (changed(('lower="-1"', 'lower="2"')), "pinocchio mujoco kdl"),
    "two <origin>": (changed(('<origin xyz="0.3 0 0" rpy="0 0 0"/>', '<origin xyz="0.3 0 0"/><origin xyz="0.4 0 0"/>')), "pinocchio kdl"),
    "two <inertial>": (changed((LOWER, LOWER.replace("</link>", '<inertial><mass value="9"/></inertial></link>'))), "pinocchio kdl"),
    "parent that is no link": (changed(('<parent link="upper"/>', '<parent link="uper"/>')), ""),
    "no joint at all": ('<robot name="arm"><link name="base"/></robot>', "pinocchio mujoco kdl"),
    "no name of the robot": (changed(('<robot name="arm">', "<robot>")), "psdm mujoco"),
    "mesh that is not there": (changed((LOWER, LOWER.replace("</link>", BOX.replace('<box size="1 1 1"/>', '<mesh filename="gone.stl"/>') + "</link>"))), "psdm pinocchio kdl"),
    "malformed XML": (changed(("</joint>", "</jiont>")), ""),
}
