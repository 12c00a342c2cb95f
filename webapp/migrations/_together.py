"""Many new tables by one look at the models, in place of one for each of them."""

from django.db.migrations.operations.base import Operation


class CreateTogether(Operation):
    """Create tables of models that may refer to each other in circles.

    After each CreateModel Django renders every model anew that the new one leads to, which here are
    nearly all: 60 tables cost 1,700 models. None of that is needed before all of them are known.
    """

    def __init__(self, operations):
        self.operations = operations

    def deconstruct(self):
        return (type(self).__qualname__, [], {"operations": self.operations})

    def state_forwards(self, app_label, state):
        state.__dict__.pop("apps", None)  # is rendered when somebody asks for it
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        for operation in self.operations:
            operation.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        for operation in reversed(self.operations):
            operation.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self):
        return f"Create {len(self.operations)} models"
