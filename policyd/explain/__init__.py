"""Explanations: what a decision says, in sentences that follow from the decision itself."""

from policyd.explain.prose import headline, sentence

__all__ = ["headline", "sentence"]
