"""Resources: what within an owner a grant is about, one module per way of comparing.

Source: cards 2.2.
"""

from policyd.core.grants.resources.exact import AnyResource, Exact, NoResource, Resource
from policyd.core.grants.resources.network import NetworkResource, Ports
from policyd.core.grants.resources.oplog import OplogRange
from policyd.core.grants.resources.segments import FilePath, SegmentPath
from policyd.core.grants.resources.stores import HttpRoute, StoreKey, TableName
from policyd.core.grants.resources.targets import CardTarget
from policyd.core.grants.resources.tools import Argument, Invocation

__all__ = [
    "AnyResource",
    "Argument",
    "CardTarget",
    "Exact",
    "FilePath",
    "HttpRoute",
    "Invocation",
    "NetworkResource",
    "NoResource",
    "OplogRange",
    "Ports",
    "Resource",
    "SegmentPath",
    "StoreKey",
    "TableName",
]
