"""The one error of model files."""


class ModelFileError(ValueError):
    """A model can't be saved, or a file holds no model that can be trusted.

    Its one argument is the message, so that it survives pickling to worker processes.
    """

    exit_code = 65
