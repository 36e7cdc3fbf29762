import torch

type Batch = tuple[torch.Tensor, torch.Tensor]


def first[T](items: list[T]) -> T:
    return items[0]


class Stack[T]:
    pass


match command:
    case ["train", *rest] if rest:
        torch.no_grad()
    case {"loss": loss, **others}:
        pass
    case torch.Tensor(shape=(1, 2)) | None:
        pass
    case _:
        pass

try:
    pass
except* ValueError as group:
    torch.cuda.empty_cache()

with (torch.no_grad() as a, torch.autocast("cuda")):
    print(f"{a!r:>{10}} {'nested "quotes"'}")

async def run():
    async for x in loader:
        async with lock:
            losses.append([y async for y in x])
