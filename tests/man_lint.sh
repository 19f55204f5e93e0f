# mandoc finds nothing to complain of in the manual pages.
. "$abs_top_srcdir/tests/lib.sh"

command -v mandoc >/dev/null || skip_all "no mandoc"

# Pages refer to pages that may not be installed yet.
lint()
{
    mandoc -Tlint "$1" >lint.log
    ! grep -v 'referenced manual not found' lint.log
}

for page in "$abs_top_srcdir"/man/*.[1-9]; do
    ok "${page##*/}" lint "$page"
done

finish
