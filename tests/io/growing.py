"""Documents that repeat one thing n times, for each format and each thing that a reader goes through."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable


def each(n: int, text: str | Callable[[int], str]) -> str:
    """A text n times; ``{k}`` and ``{j}`` are its number and the one before."""
    if callable(text):
        return "".join(text(k) for k in range(n))
    return "".join(text.replace("{k}", str(k)).replace("{j}", str(k - 1) if k else "a") for k in range(n))


def rising(n: int, text: str) -> str:
    """The same from the last to the first: what is referred to comes later."""
    return "".join(text.replace("{k}", str(k)).replace("{j}", str(k - 1) if k else "a") for k in reversed(range(n)))


# URDF -----------------------------------------------------------------------------------------------------------------

MASS = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LINK = f'<link name="l{{k}}">{MASS}</link>'
LIMIT = '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joint(parent="la", child="l{k}", more="", name="j{k}", kind="revolute"):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{LIMIT if kind == "revolute" else ""}{more}</joint>'


def robot(inner="", head="", attributes="", first=""):
    return f'{head}<robot name="r"{attributes}><link name="la">{MASS}{first}</link>{inner}</robot>'


BOX = "<geometry><box size='1 1 1'/></geometry>"
URDF = {
    "comments": lambda n: robot("<!-- x -->" * n),
    "comments after a document type": lambda n: robot("<!-- x -->" * n, head="<!DOCTYPE robot>"),
    "unknown elements": lambda n: robot("<foo/>" * n),
    "unknown elements of all names": lambda n: robot(each(n, "<foo{k}/>")),
    "unknown elements in a link": lambda n: robot(first=each(n, "<foo{k}/>")),
    "attributes": lambda n: robot(attributes=each(n, ' a{k}="1"')),
    "misspelled attributes": lambda n: robot(first="<inertial" + each(n, ' vale{k}="1"') + "/>"),
    "namespaces": lambda n: robot(attributes=each(n, ' xmlns:a{k}="h{k}"')),
    "elements of a namespace": lambda n: robot('<x:foo x:a="1"/>' * n, attributes=' xmlns:x="h"'),
    "gazebo": lambda n: robot("<gazebo/>" * n),
    "gazebo of a link": lambda n: robot('<gazebo reference="la"><mu1>1</mu1><turnGravityOff>0</turnGravityOff></gazebo>' * n),
    "gazebo of links": lambda n: robot(each(n, LINK + joint() + '<gazebo reference="l{k}"><kp>1</kp></gazebo>')),
    "gazebo springs": lambda n: robot(each(n, LINK + joint() + '<gazebo reference="j{k}"><springStiffness>0'
                                                  "</springStiffness></gazebo>")),
    "plugins": lambda n: robot("<gazebo>" + '<plugin name="p" filename="f"><x>1</x></plugin>' * n + "</gazebo>"),
    "transmissions": lambda n: robot(each(n, '<transmission name="t{k}"><joint name="x"/></transmission>')),
    "sensors": lambda n: robot(each(n, '<sensor name="s{k}"/>')),
    "controllers": lambda n: robot(each(n, '<ros2_control name="c{k}"><joint name="x"/></ros2_control>')),
    "materials": lambda n: robot(each(n, '<material name="m{k}"><color rgba="1 0 0 1"/></material>')),
    "one material": lambda n: robot('<material name="m"><color rgba="1 0 0 1"/></material>' * n),
    "visuals": lambda n: robot(first=f"<visual>{BOX}</visual>" * n),
    "collisions": lambda n: robot(first=f"<collision>{BOX}</collision>" * n),
    "meshes": lambda n: robot(first=each(n, '<visual><geometry><mesh filename="package://p{k}/m"/></geometry></visual>')),
    "inertials": lambda n: robot(first=MASS * n),
    "origins": lambda n: robot(first="<inertial>" + "<origin/>" * n + "</inertial>"),
    "roots": lambda n: robot(each(n, LINK)),
    "one name of links": lambda n: robot('<link name="la"/>' * n),
    "names that differ in case": lambda n: robot(each(n, LINK + joint() + LINK.replace("l{", "L{")
                                                      + joint(child="L{k}", name="J{k}"))),
    "star": lambda n: robot(each(n, LINK + joint())),
    "chain": lambda n: robot(each(n, LINK + joint("l{j}"))),
    "chain from below": lambda n: robot(rising(n, LINK + joint("l{j}"))),
    "fixed chain": lambda n: robot(each(n, LINK + joint("l{j}", kind="fixed"))),
    "chain without masses": lambda n: robot(each(n, '<link name="l{k}"/>' + joint("l{j}"))),
    "fixed chain without masses": lambda n: robot(each(n, '<link name="l{k}"/>' + joint("l{j}", kind="fixed"))),
    "one name of joints": lambda n: robot(each(n, LINK + joint(name="j"))),
    "two parents": lambda n: robot(each(1, LINK) + each(n, joint(child="l0"))),
    "joints of one link": lambda n: robot(each(n, LINK + joint("l{k}"))),
    "unknown parents": lambda n: robot(each(n, LINK + joint("x{k}"))),
    "unknown links": lambda n: robot(each(n, joint("x{k}", "y{k}"))),
    "unknown types": lambda n: robot(each(n, LINK + joint(kind="turning"))),
    "ring": lambda n: robot(each(n, lambda k: LINK.replace("{k}", str(k))
                                 + joint(f"l{(k + 1) % n}", f"l{k}", name=f"j{k}"))),
    "mimics": lambda n: robot(each(n + 1, lambda k: (LINK + joint(more='<mimic joint="j0"/>' if k else "")).replace("{k}", str(k)))),
    "mimic chain": lambda n: robot(each(n + 1, LINK + joint(more='<mimic joint="j{j}"/>')).replace(
        '<mimic joint="ja"/>', "")),
    "mimic chain from below": lambda n: robot(rising(n + 1, LINK + joint(more='<mimic joint="j{j}"/>')).replace(
        '<mimic joint="ja"/>', "")),
    "mimic ring": lambda n: robot(each(n, lambda k: (LINK + joint(more=f'<mimic joint="j{(k + 1) % n}"/>')).replace("{k}", str(k)))),
    "mimics of nothing": lambda n: robot(each(n, LINK + joint(more='<mimic joint="x{k}"/>'))),
    "calibrations": lambda n: robot(each(n, LINK + joint(more='<safety_controller k_velocity="1"/><calibration/>'))),
}  # fmt: skip

# SDF ------------------------------------------------------------------------------------------------------------------

SLINK = '<link name="l{k}"><inertial><mass>1</mass></inertial>{more}</link>'


def link(more=""):
    return SLINK.replace("{more}", more)


def sjoint(parent="la", child="l{k}", axis="", more="", kind="revolute", expressed=""):
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="j{{k}}" type="{kind}">{ends}<axis><xyz{expressed}>0 0 1</xyz>{axis}</axis>{more}</joint>'


def model(inner="", version="1.7", first="", head="", attributes=""):
    la = f'<link name="la"><inertial><mass>1</mass></inertial>{first}</link>'
    return f'{head}<sdf version="{version}"{attributes}><model name="m">{la}{inner}</model></sdf>'


def world(inner):
    return f'<sdf version="1.7"><world name="w">{inner}</world></sdf>'


SBOX = "<geometry><box><size>1 1 1</size></box></geometry>"
MIMIC = '<mimic joint="{}"><multiplier>1</multiplier></mimic>'
SDF = {
    "comments": lambda n: model("<!-- x -->" * n),
    "unknown elements": lambda n: model(each(n, "<foo{k}/>")),
    "unknown elements in a link": lambda n: model(first=each(n, "<foo{k}/>")),
    "attributes": lambda n: model(attributes=each(n, ' a{k}="1"')),
    "elements of a namespace": lambda n: model("<drake:foo/>" * n, attributes=' xmlns:drake="d"'),
    "plugins": lambda n: model(each(n, '<plugin name="p{k}" filename="f"><x>1</x></plugin>')),
    "sensors": lambda n: model(first=each(n, '<sensor name="s{k}" type="x"/>')),
    "visuals": lambda n: model(first=each(n, f'<visual name="v{{k}}">{SBOX}</visual>')),
    "visuals elsewhere": lambda n: model(first=each(n, f'<visual name="v{{k}}"><pose relative_to="la"/>{SBOX}</visual>')),
    "masses from shapes": lambda n: model('<link name="b"><inertial auto="true"/>' + each(
        n, f'<collision name="c{{k}}">{SBOX}</collision>') + "</link>", version="1.11"),
    "materials": lambda n: model(first=f'<visual name="v">{SBOX}' + "<material/>" * n + "</visual>"),
    "free links": lambda n: model(each(n, link())),
    "one name of links": lambda n: model('<link name="la"/>' * n),
    "star": lambda n: model(each(n, link() + sjoint())),
    "chain": lambda n: model(each(n, link() + sjoint("l{j}"))),
    "chain from below": lambda n: model(rising(n, link() + sjoint("l{j}"))),
    "fixed chain": lambda n: model(each(n, link() + sjoint("l{j}", kind="fixed"))),
    "loops": lambda n: model(each(1, link()) + each(n, sjoint(child="l0", kind="ball"))),
    "chain of poses": lambda n: model(each(n, link('<pose relative_to="l{j}">0 0 1 0 0 0</pose>'))),
    "chain of poses from below": lambda n: model(rising(n, link('<pose relative_to="l{j}">0 0 1 0 0 0</pose>'))),
    "frames": lambda n: model(each(n, '<frame name="f{k}"/>')),
    "chain of frames": lambda n: model('<frame name="fa"/>' + each(n, '<frame name="f{k}" attached_to="f{j}"/>')),
    "chain of frames from below": lambda n: model(
        '<frame name="fa"/>' + rising(n, '<frame name="f{k}" attached_to="f{j}"/>')),
    "ring of frames": lambda n: model(each(n, lambda k: f'<frame name="f{k}" attached_to="f{(k + 1) % n}"/>')),
    "ring of poses": lambda n: model(each(
        n, lambda k: f'<frame name="f{k}"><pose relative_to="f{(k + 1) % n}"/></frame>')),
    "frames on nothing": lambda n: model(each(n, '<frame name="f{k}" attached_to="x{k}"/>')),
    "joints of nothing": lambda n: model(each(n, link() + sjoint("x{k}"))),
    "axes in nothing": lambda n: model(each(n, link() + sjoint(expressed=' expressed_in="x{k}"'))),
    "joints of chained frames": lambda n: model('<frame name="fa"/>' + each(
        n, link() + '<frame name="f{k}" attached_to="f{j}"/>' + sjoint("f{k}", expressed=' expressed_in="f{k}"'))),
    "mimics": lambda n: model(each(n, link() + sjoint(axis=MIMIC.format("j0"))), version="1.11"),
    "mimic chain": lambda n: model(each(n + 1, link() + sjoint(axis=MIMIC.format("j{j}"))).replace(
        MIMIC.format("ja"), ""), version="1.11"),
    "mimic ring": lambda n: model(each(n, lambda k: (link() + sjoint(axis=MIMIC.format(f"j{(k + 1) % n}"))).replace(
        "{k}", str(k))), version="1.11"),
    "models": lambda n: model(each(n, f'<model name="m{{k}}">{link()}</model>')),
    "joints between models": lambda n: model(each(
        n, f'<model name="m{{k}}">{link()}</model>' + sjoint("la", "m{k}::l{k}"))),
    "models of a world": lambda n: world(each(n, f'<model name="m{{k}}">{link()}</model>')),
    "models without a world": lambda n: '<sdf version="1.7">' + each(n, f'<model name="m{{k}}">{link()}</model>') + "</sdf>",
    "includes": lambda n: world(each(n, "<include><uri>model://m{k}</uri></include>")),
    "physics": lambda n: world("<physics/>" * n + f'<model name="m">{link()}</model>'),
    "winds": lambda n: model(each(n, '<link name="b{k}"><enable_wind>true</enable_wind></link>')),
}  # fmt: skip

# MJCF: MuJoCo's own time is its own; these load -----------------------------------------------------------------------

BODY = '<body name="b{k}"><joint name="j{k}"/><geom size=".1"/>{more}</body>'


def mjcf(bodies="", more="", head="", first=""):
    return f"<mujoco>{head}<worldbody>{BODY.replace('{k}', 'a').replace('{more}', first)}{bodies}</worldbody>{more}</mujoco>"


def body(more=""):
    return BODY.replace("{more}", more)


MJCF = {
    "comments": lambda n: mjcf("<!-- x -->" * n),
    "bodies": lambda n: mjcf(each(n, body())),
    "bodies without names": lambda n: mjcf('<body><joint/><geom size=".1"/></body>' * n),
    "bodies without joints": lambda n: mjcf(first=each(n, '<body name="b{k}"><geom size=".1"/></body>')),
    "geoms": lambda n: mjcf(first=each(n, '<geom name="g{k}" size=".1"/>')),
    "sites": lambda n: mjcf(first=each(n, '<site name="s{k}"/>')),
    "classes": lambda n: mjcf(each(n, '<geom class="c{k}" size=".1"/>'),
                              head="<default>" + each(n, '<default class="c{k}"><geom density="2"/></default>') + "</default>"),
    "settings": lambda n: mjcf(head='<option timestep=".001"/><compiler angle="radian"/>' * n),
    "meshes": lambda n: mjcf(head="<asset>" + each(n, '<mesh name="m{k}" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>') + "</asset>"),
    "materials": lambda n: mjcf(head="<asset>" + each(n, '<material name="m{k}"/>') + "</asset>"),
    "sensors": lambda n: mjcf(more="<sensor>" + '<jointpos joint="ja"/>' * n + "</sensor>"),
    "cameras and lights": lambda n: mjcf(first="<camera/><light/>" * n),
    "exclusions": lambda n: mjcf(each(n, body()), more="<contact>" + each(
        n, '<exclude body1="ba" body2="b{k}"/>') + "</contact>"),
    "motors": lambda n: mjcf(more="<actuator>" + each(n, '<motor name="m{k}" joint="ja"/>') + "</actuator>"),
    "servos": lambda n: mjcf(more="<actuator>" + each(n, '<position name="m{k}" joint="ja"/>') + "</actuator>"),
    "tendons": lambda n: mjcf(more="<tendon>" + each(n, '<fixed name="t{k}"><joint joint="ja" coef="1"/></fixed>') + "</tendon>"),
    "couplings": lambda n: mjcf(each(n, body()), more="<equality>" + each(
        n, '<joint joint1="j{k}" joint2="j{j}"/>') + "</equality>"),
    "circles of couplings": lambda n: mjcf(each(n, body()), more="<equality>" + each(
        n, '<joint joint1="j{k}" joint2="j{j}"/>') + f'<joint joint1="ja" joint2="j{n - 1}"/>' * (3 * n) + "</equality>"),
    "couplings from below": lambda n: mjcf(each(n, body()), more="<equality>" + rising(
        n, '<joint joint1="j{k}" joint2="j{j}"/>') + "</equality>"),
    "welds": lambda n: mjcf(each(n, body()), more="<equality>" + each(
        n, '<weld body1="ba" body2="b{k}"/>') + "</equality>"),
    "keys": lambda n: mjcf(more="<keyframe>" + each(n, '<key name="k{k}" qpos="1"/>') + "</keyframe>"),
    "numbers and tuples": lambda n: mjcf(more="<custom>" + each(
        n, '<numeric name="n{k}" data="1"/><text name="t{k}" data="x"/>') + "</custom>"),
}  # fmt: skip

DOCUMENTS = {"urdf": URDF, "sdf": SDF, "mjcf": MJCF}
