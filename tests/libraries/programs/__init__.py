"""Programs of the Python libraries: the application that uses one. They import a library and nothing of qmon."""
