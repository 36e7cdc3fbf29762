import torch
print "loss", loss
exec "x = 1"
try:
    raise ValueError, "bad"
except ValueError, e:
    print e
losses = []
for x in xrange(10):
    losses.append(`x`)
