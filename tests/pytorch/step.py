"""Training steps of one network in PyTorch, timed; an ordinary program.

usage: step.py alexnet|resnet18|unet3d fp32|tf32|fp16 [STEPS [profile]]

Prints one line of JSON: the median step in milliseconds, its quartiles, the
peak of allocated memory and the loss after the last of STEPS (20) timed steps,
three untimed ones before them. With "profile", `conv_ms` is the device time a
step of what cuDNN's convolutions launched, from further steps under PyTorch's
profiler; null when it saw none.
"""
import json
import sys

import torch
import torch.nn as nn


class Level(nn.Sequential):
    """Two 3x3x3 convolutions."""

    def __init__(self, c, k):
        super().__init__(nn.Conv3d(c, k, 3, padding=1), nn.ReLU(True),
                         nn.Conv3d(k, k, 3, padding=1), nn.ReLU(True))


class UNet3d(nn.Module):
    """db/networks/unet3d.json, with a last layer of one mean."""

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = Level(1, 32), Level(32, 64)
        self.bottom = Level(64, 128)
        self.pool = nn.MaxPool3d(2)
        self.up2 = nn.ConvTranspose3d(128, 64, 2, stride=2)
        self.level2 = Level(128, 64)
        self.up1 = nn.ConvTranspose3d(64, 32, 2, stride=2)
        self.level1 = Level(64, 32)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.up2(self.bottom(self.pool(b)))
        c = self.up1(self.level2(torch.cat([b, c], 1)))
        return self.level1(torch.cat([a, c], 1))


def make(network):
    if network == "unet3d":
        return UNet3d(), (4, 1, 96, 96, 96), torch.contiguous_format
    import torchvision  # takes seconds, and the U-Net needs none of it
    batch = {"alexnet": 256, "resnet18": 128}[network]
    model = getattr(torchvision.models, network)()
    return model, (batch, 3, 224, 224), torch.channels_last


# Kernels are the innermost operator's: those of cuDNN are these operators' own,
# while sums of bias gradients (aten::sum), bias additions (aten::add_), casts
# and copies (aten::copy_) belong to others and are not counted.
CONVOLUTIONS = {"aten::cudnn_convolution", "aten::cudnn_convolution_transpose",
                "aten::convolution_backward"}


def convolutions_ms(step, steps):
    """Mean device time a step of the convolutions' kernels."""
    activities = [torch.profiler.ProfilerActivity.CPU,
                  torch.profiler.ProfilerActivity.CUDA]
    for _ in range(2):  # the first finds the profiler cold
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=activities) as profile:
            for _ in range(steps):
                step()
            torch.cuda.synchronize()
    us = [kernel.duration for event in profile.events()
          if event.name in CONVOLUTIONS for kernel in event.kernels]
    return round(sum(us) / 1000 / steps, 3) if us else None


def main():
    network, precision = sys.argv[1:3]
    steps = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    model, shape, channels_last = make(network)
    half = precision == "fp16"
    layout = channels_last if half else torch.contiguous_format
    model = model.cuda().to(memory_format=layout)
    x = torch.randn(shape).cuda().to(memory_format=layout)
    target = None if network == "unet3d" else \
        torch.randint(1000, (shape[0],)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.float16, enabled=half):
            y = model(x)
            loss = y.float().square().mean() if target is None else \
                nn.functional.cross_entropy(y, target)
        loss.backward()
        optimizer.step()
        return loss

    times = []
    for i in range(steps + 3):
        if i == 3:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        loss = step()
        end.record()
        times.append((begin, end))
    torch.cuda.synchronize()
    ms = sorted(b.elapsed_time(e) for b, e in times[3:])
    result = {
        "network": network, "precision": precision,
        "ms": round(ms[len(ms) // 2], 3),
        "quartiles": [round(ms[len(ms) // 4], 3),
                      round(ms[len(ms) * 3 // 4], 3)],
        "peak_mib": round(torch.cuda.max_memory_allocated() / 2**20, 1),
        "loss": float("%.7g" % loss.item())}
    if sys.argv[4:] == ["profile"]:
        result["conv_ms"] = convolutions_ms(step, 2)
    print(json.dumps(result))


main()
