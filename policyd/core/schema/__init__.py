"""The schema vocabulary of tools and agents: types, values, relations and canonical forms.

Source: middleware 1.2, 1.3, 3 and 5.
"""
