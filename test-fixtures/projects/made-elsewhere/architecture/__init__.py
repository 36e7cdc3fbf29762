from .network import model as exported
