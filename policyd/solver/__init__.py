"""z3: an independent judge of the call sets, and the search for the least grants.

The library is heavy; nothing here is imported before it is asked for.
"""
