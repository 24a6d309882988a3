"""Small SDF texts for the tests."""


def inertial(mass=1.0, diagonal=(1.0, 1.0, 1.0), pose=""):
    xx, yy, zz = diagonal
    where = f"<pose>{pose}</pose>" if pose else ""
    tensor = f"<inertia><ixx>{xx}</ixx><iyy>{yy}</iyy><izz>{zz}</izz></inertia>"
    return f"<inertial>{where}<mass>{mass}</mass>{tensor}</inertial>"


def link(name, pose="", inside=None, attributes=""):
    where = f"<pose {attributes}>{pose}</pose>" if pose or attributes else ""
    return f'<link name="{name}">{where}{inertial() if inside is None else inside}</link>'


def joint(name, type_, parent, child, inside="<axis><xyz>0 0 1</xyz></axis>"):
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{type_}">{ends}{inside}</joint>'


def model(*parts, version="1.7", name="m", attributes=""):
    inside = "\n".join(parts)
    return f'<sdf version="{version}">\n<model name="{name}" {attributes}>\n{inside}\n</model>\n</sdf>'


def world(*parts, version="1.7"):
    inside = "\n".join(parts)
    return f'<sdf version="{version}">\n<world name="w">\n{inside}\n</world>\n</sdf>'
