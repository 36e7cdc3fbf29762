import torch

for x in y:

while True:

with torch.no_grad():

def f():

class A:
