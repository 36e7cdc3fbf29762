class SGD:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def step(self):
        for parameter in self.parameters:
            parameter.data -= self.lr * parameter.grad

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None
