from architecture.round import other

model = other
