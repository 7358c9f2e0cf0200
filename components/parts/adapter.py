"""Base class of the adapters in components/multilang."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from landbridge.findings import FindingsError, path_text

Inputs = TypeVar("Inputs", bound=Mapping[str, Any])
Plan = TypeVar("Plan")
Inner = TypeVar("Inner", bound=pulumi.ComponentResource)


class Adapter(pulumi.ComponentResource):
    """Component of the package `landbridge`: plans from plain values and creates the component of the same name.

    `plan` returns the plan of the inputs. `component` is the class that takes the plan. Its keyword arguments come from
    `arguments(plan)`, then from inputs of the same name; `account` comes from the provider. Each annotated attribute of the adapter
    is an output: its value comes from `outputs(component)`, then from the component's attribute of the same name.
    """

    def __init__(
        self,
        name: str,
        args: Inputs,
        opts: pulumi.ResourceOptions | None,
        *,
        plan: Callable[[Inputs], Plan],
        component: Callable[..., Inner],
        arguments: Callable[[Plan], Mapping[str, Any]] = lambda _: {},
        outputs: Callable[[Inner], Mapping[str, Any]] = lambda _: {},
    ) -> None:
        class_name = type(self).__name__
        planned = _plan_or_raise(f"{class_name} {name}", lambda: plan(args))
        super().__init__(f"landbridge:index:{class_name}", name, dict(args), opts)
        keywords = dict(arguments(planned))
        for parameter in inspect.signature(component).parameters.values():
            if parameter.kind is not parameter.KEYWORD_ONLY or parameter.name in keywords:
                continue
            if parameter.name == "account":
                keywords["account"] = self._account()
            elif parameter.name in args:
                keywords[parameter.name] = args[parameter.name]
        inner = component(name, planned, **keywords, opts=pulumi.ResourceOptions(parent=self))
        values = outputs(inner)
        for key in _output_names(type(self)):
            value = values[key] if key in values else getattr(inner, key)
            setattr(self, key, pulumi.Output.from_input(value))
        self.register_outputs({_camel_case(key): getattr(self, key) for key in _output_names(type(self))})

    def _account(self) -> Account:
        """Return account and partition of the adapter's provider."""
        options = pulumi.InvokeOutputOptions(parent=self)
        return Account(
            id=aws.get_caller_identity_output(opts=options).account_id,
            partition=aws.get_partition_output(opts=options).partition,
        )


def _plan_or_raise(resource: str, plan: Callable[[], Plan]) -> Plan:
    """Return the plan, before a resource is registered. Invalid values become input property errors."""
    try:
        return plan()
    except FindingsError as error:
        problems = [
            {"property_path": path_text(finding.path) or "args", "reason": finding.message}
            for finding in error.findings
        ]
    except (KeyError, ValueError) as error:
        problems = [{"property_path": "args", "reason": str(error)}]
    # Pulumi's component host prints only the message of an exception from a constructor (SDK 3.272).
    reasons = "; ".join(f"{problem['property_path']}: {problem['reason']}" for problem in problems)
    raise pulumi.InputPropertiesError(f"{resource}: {reasons}", problems)  # type: ignore[arg-type]


def _output_names(adapter: type[Adapter]) -> list[str]:
    return [key for key in inspect.get_annotations(adapter) if not key.startswith("_")]


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
