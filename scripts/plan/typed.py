"""Typed models of YAML files. A field says its type, its bounds and, in the text below it, one
sentence. From these come the check, its messages, and the schemas for editors.
"""

from functools import cache
from itertools import chain
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator
from pydantic.json_schema import GenerateJsonSchema

Item = TypeVar("Item")


def _unique(items: list) -> list:
    if any(item in items[:place] for place, item in enumerate(items)):
        raise ValueError("an item occurs twice")
    return items


Unique = Annotated[
    list[Item], AfterValidator(_unique), Field(json_schema_extra={"uniqueItems": True})
]
Text = Annotated[str, Field(min_length=1)]


class Schema(GenerateJsonSchema):
    """The schema of a model, as short as a person would write it: no titles, and the types of a
    value in one list. Messages read it.
    """

    def generate(self, schema, mode="validation"):
        return _in_one_line(super().generate(schema, mode))

    def field_title_should_be_set(self, schema) -> bool:
        return False

    def model_schema(self, schema):
        return {key: value for key, value in super().model_schema(schema).items() if key != "title"}

    def typed_dict_schema(self, schema):
        whole = super().typed_dict_schema(schema)
        return {key: whole[key] for key in whole if key not in ("title", "additionalProperties")}

    def dict_schema(self, schema):
        keys = self.generate_inner(schema["keys_schema"]) if "keys_schema" in schema else {}
        values = self.generate_inner(schema["values_schema"])
        facts = {
            "minProperties": schema.get("min_length"),
            "maxProperties": schema.get("max_length"),
        }
        return (
            {"type": "object"}
            | ({"additionalProperties": values} if values else {})
            | ({"propertyNames": keys} if set(keys) - {"type"} else {})
            | {key: value for key, value in facts.items() if value is not None}
        )

    def default_schema(self, schema):
        return self.generate_inner(schema["schema"])

    def nullable_schema(self, schema):
        return self.of_types([schema["schema"], {"type": "none"}])

    def union_schema(self, schema):
        return self.of_types(schema["choices"])

    def of_types(self, choices: list) -> dict:
        """Return the schema of a value that has one of several types, each with its own bounds."""
        parts = [self.generate_inner(choice) for choice in choices]
        parts = [
            self.get_schema_from_definitions(part["$ref"]) or part if "$ref" in part else part
            for part in parts
        ]
        facts = {key: value for part in parts for key, value in part.items()}
        types = [
            [part["type"]] if isinstance(part["type"], str) else part["type"] for part in parts
        ]
        return facts | {"type": [*chain(*types)]}

    def literal_schema(self, schema):
        """One word is a text with a pattern: a value of another type may stand in its place."""
        words = schema["expected"]
        if len(words) == 1 and isinstance(words[0], str):
            return {"type": "string", "pattern": f"^{words[0]}$"}
        return {"enum": words}


def _in_one_line(part: Any) -> Any:
    """Return a part of a schema with each description in one line."""
    if isinstance(part, dict):
        return {
            key: " ".join(value.split())
            if key == "description" and isinstance(value, str)
            else _in_one_line(value)
            for key, value in part.items()
        }
    return [_in_one_line(item) for item in part] if isinstance(part, list) else part


class Model(BaseModel):
    """A mapping with these keys. Values are not converted, but a whole number to a number."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )

    @field_validator("*")
    @classmethod
    def without_sign_of_zero(cls, value: Any) -> Any:
        """Zero and minus zero are one setting."""
        return value + 0.0 if isinstance(value, float) else value

    @classmethod
    @cache
    def schema_of(cls) -> dict[str, Any]:
        return cls.model_json_schema(schema_generator=Schema)


Mapping = TypeVar("Mapping", bound=Model)


def partly(model: type[Mapping]) -> type[Mapping]:
    """Let a model lack each of its keys: None stands for a key that is left out."""
    for field in model.model_fields.values():
        field.default = None
    model.model_rebuild(force=True)
    return model
