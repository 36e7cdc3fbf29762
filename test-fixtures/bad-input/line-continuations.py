import torch
from torch import \
    nn
for x in \
        loader:
    torch \
        .cuda \
        .empty_cache \
        ()
    losses \
        .append(loss) \

\