"""The ontology of a reading task: classes, properties and constraints, what each is for, and checks against them."""

from basanite.reading.ontology.checks import Fault, check_statements
from basanite.reading.ontology.loading import read_ontology
from basanite.reading.ontology.model import Cardinality, Datatype, Mark, Ontology, OntologyClass, Property

__all__ = [
    "Cardinality",
    "Datatype",
    "Fault",
    "Mark",
    "Ontology",
    "OntologyClass",
    "Property",
    "check_statements",
    "read_ontology",
]
