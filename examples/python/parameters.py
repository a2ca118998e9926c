"""A parameter with a range and a check: parameters.py --ros-args -p speed:=1.5"""

import sinew
from sinew.parameter import FloatingPointRange


def check(parameters: list[sinew.Parameter]) -> sinew.SetParametersResult:
    for parameter in parameters:
        if parameter.name == "frame" and not parameter.value:
            return sinew.SetParametersResult(successful=False, reason="a frame has a name")
    return sinew.SetParametersResult()


def main() -> None:
    with sinew.init(), sinew.Node("parameters") as node:
        node.add_on_set_parameters_callback(check)
        limits = sinew.ParameterDescriptor(
            description="Metres per second", floating_point_range=FloatingPointRange(0.0, 2.0)
        )
        speed = node.declare_parameter("speed", 1.0, limits)
        node.declare_parameter("frame", "base_link")
        print("speed:", speed.value)
        for change in (sinew.Parameter("speed", value=0.5), sinew.Parameter("frame", value="")):
            result = node.set_parameters([change])[0]
            print(f"{change.name} = {change.value!r}:", "set" if result.successful else result.reason)
        print("speed:", node.get_parameter("speed").value, "frame:", node.get_parameter("frame").value)


if __name__ == "__main__":
    main()
