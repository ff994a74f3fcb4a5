# compile.sh LOG COMMAND...: runs the command, keeps what ptxas says of each kernel
# (registers, stack, spills) in LOG and shows the rest.
log=$1
shift
"$@" >"$log" 2>&1
status=$?
if [ $status -ne 0 ]; then
  cat "$log" >&2
  rm -f "$log"
else
  grep -v -e '^ptxas info' -e 'bytes stack frame' "$log" >&2
fi
exit $status
