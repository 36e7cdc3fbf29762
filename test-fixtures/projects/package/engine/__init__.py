from .evaluation import evaluate as run_evaluation
from .losses import *
from . import steps
