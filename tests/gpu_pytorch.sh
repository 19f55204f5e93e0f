# PyTorch as the client: two training programs, recorded, planned and run, a
# few steps each. tests/pytorch/compare.py says what must hold.
. "$abs_top_srcdir/tests/lib.sh"

gpu_present || skip_all "no GPU"
python3 -c 'import torch, torchvision; torch.zeros(1).cuda()' 2>/dev/null ||
    skip_all "no PyTorch that uses the GPU"

for network in alexnet resnet18; do
    expect 0 "$network follows its plan, no slower, with the same loss" \
        python3 "$tests/pytorch/compare.py" --steps 10 none.profile \
        "$network:fp32:64"
    show_file out
done

finish
