"""Programs of the Python libraries: the applications that use them. They import a library and nothing of qmon."""
