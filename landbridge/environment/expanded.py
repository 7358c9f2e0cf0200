"""An environment written out with every default, as a stack's file that loads to the same environment."""

from collections.abc import Mapping
from io import StringIO
from typing import Any

from pydantic import BaseModel
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from landbridge.environment.load import KEY, Loaded
from landbridge.environment.model import Environment


def expanded(loaded: Loaded) -> str:
    """The whole file with every default in its place, each marked with why it was chosen.

    Everything beside the environment (region, encrypted keys) is kept. Needs a loaded environment without errors.
    """
    if loaded.environment is None:
        raise ValueError(f"{loaded.path} has errors")
    whole: dict[str, Any] = dict(loaded.source.data)
    config = dict(whole["config"])
    config[KEY] = _environment(loaded.environment)
    whole["config"] = config
    yaml = YAML()
    yaml.width = 10_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = StringIO()
    yaml.dump(_plain(whole), out)
    return out.getvalue()


def _environment(environment: Environment) -> CommentedMap:
    # Its name is the file's, its region has a key of its own.
    found = _model(environment, inherited=False)
    del found["name"], found["region"]
    return found


def _model(model: BaseModel, *, inherited: bool) -> CommentedMap:
    """`inherited`: the model as a whole is a default, so nothing in it was written by a person."""
    found = CommentedMap()
    for name, field in type(model).model_fields.items():
        is_default = inherited or name not in model.model_fields_set
        value = _value(getattr(model, name), inherited=is_default)
        found[name] = value
        if is_default and name != "kind" and not isinstance(getattr(model, name), BaseModel):
            comment = f"default: {field.description}" if field.description else "default"
            # After a value that takes several lines, a comment would land behind the first of them: it goes above.
            if isinstance(value, (CommentedMap, CommentedSeq)) and len(value):
                found.yaml_set_comment_before_after_key(name, before=comment, indent=0)
            else:
                found.yaml_add_eol_comment(comment, name)
    return found


def _value(value: Any, *, inherited: bool) -> Any:
    if isinstance(value, BaseModel):
        return _model(value, inherited=inherited)
    if isinstance(value, Mapping):
        return CommentedMap({key: _value(item, inherited=inherited) for key, item in value.items()})
    if isinstance(value, (tuple, list)):
        return CommentedSeq([_value(item, inherited=inherited) for item in value])
    return value if value is None or isinstance(value, (bool, int, float, str)) else _text(value)


def _text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _plain(data: Any) -> Any:
    """Flow style for empty collections is ruamel's own choice; everything else goes out as blocks."""
    if isinstance(data, CommentedMap):
        return data
    if isinstance(data, dict):
        return CommentedMap({key: _plain(value) for key, value in data.items()})
    return data
