import torch
else:
    torch.no_grad()
except ValueError:
    torch.cuda.empty_cache()
finally:
    pass
elif x:
    pass
