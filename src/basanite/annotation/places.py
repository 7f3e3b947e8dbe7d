"""Where in the form something is: an object, and perhaps one of its fields; and what people call it there."""

from __future__ import annotations

from dataclasses import dataclass

from basanite.annotation.config.model import NAME, VALUE, Config
from basanite.annotation.events.model import Object, State


@dataclass(frozen=True, order=True)
class Place:
    """An object of the annotation, and perhaps one of its fields: where something is shown and mended."""

    object: str
    field: str = ""

    def as_dict(self) -> dict[str, str]:
        """The object that pages are sent."""
        return {"object": self.object, "field": self.field}


def called(config: Config, state: State, one: Object) -> str:
    """What an object is called in messages: the name that was chosen for it, or its category and number.

    A field in a frame is called after the frame as well: `Score of Chicago Bears`.
    """
    category = config.categories[one.category]
    entry = category.field(NAME)
    value = one.fields.get(NAME, "")
    if entry is not None and value:
        choice = entry.choice(value)
        return choice.title if choice else value
    above = state.objects.get(one.parent)
    if category.single:
        return f"{category.title} of {called(config, state, above)}" if above else category.title
    several = state.children(one.parent, one.category)
    return category.title if len(several) == 1 else f"{category.title} {several.index(one) + 1}"


def shown(config: Config, one: Object, name: str) -> str:
    """The title of a field, as messages say it; the only value of a category goes by the category's title."""
    category = config.categories[one.category]
    entry = category.field(name)
    if entry is None or (name == VALUE and entry.title == VALUE):
        return category.title
    return entry.title
