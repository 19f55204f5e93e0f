# doctor on a real GPU, of the machine and of programs of PyTorch.
. "$abs_top_srcdir/tests/lib.sh"

gpu_present || skip_all "no GPU"

# finds LINE: an extended regular expression.
finds()
{
    ok "finds: $1" grep -Eq "^$1\$" out || show_file out
}

expect 0 "this machine's GPU can be used" ucudnn-plan doctor --device 0
finds "GPU 0 +NVIDIA .*"
finds "cuDNN +9\..*"
finds "bench, verify +yes.*"
finds "run, record +yes.*"

python3 -c 'import torch; torch.zeros(1).cuda()' 2>/dev/null || {
    skip "PyTorch" "no PyTorch that uses the GPU"
    finish
    exit
}
cat >train.py <<'END_OF_PROGRAM'
import torch
layer = torch.nn.Conv2d(8, 16, 3, padding=1).cuda()
x = torch.randn(12, 8, 14, 14, device="cuda", requires_grad=True)
for _ in range(3):
    layer(x).sum().backward()
torch.cuda.synchronize()
END_OF_PROGRAM

expect 0 "PyTorch is seen" ucudnn-plan doctor -- python3 train.py
finds "9 convolutions through the legacy API: a plan will be followed\."
expect 4 "on its own way it is not" \
    ucudnn-plan doctor --keep-graph-api -- python3 train.py
finds "[0-9]+ graph executions, no legacy convolution\."
expect 0 "it is recorded" ucudnn-plan record -o net.json -- python3 train.py
expect 0 "measured and planned" ucudnn-plan plan ./net.json \
    --profile net.profile --no-runtime-compiled --workspace-limit 64K \
    --min-gain 0 -o net.plan
expect 0 "and followed" \
    ucudnn-plan doctor --plan net.plan -- python3 train.py
finds "9 of 9 convolutions followed the plan\."

finish
