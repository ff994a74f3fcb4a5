"""A program for test_stock.py: a tensor of ``torch.cuda`` goes to a spawned process and back."""

import torch
import torch.multiprocessing as multiprocessing


def child(received, ready, done):
    tensor = received.get()
    print("child read 0..7:", tensor.tolist() == list(range(8)), flush=True)
    tensor.copy_(torch.arange(8).flip(0))
    torch.cuda.synchronize()
    ready.set()
    done.wait()
    del tensor


def main():
    context = multiprocessing.get_context("spawn")
    queue, ready, done = context.Queue(), context.Event(), context.Event()
    process = context.Process(target=child, args=(queue, ready, done))
    process.start()
    tensor = torch.arange(8).cuda()
    queue.put(tensor)
    ready.wait(120)
    print("parent reads what the child wrote:", tensor.tolist() == list(range(7, -1, -1)), flush=True)
    done.set()
    process.join()


if __name__ == "__main__":
    main()
