# Kills a command whose host has died. The host holds the other end of standard input; the command's
# shell writes its process id there before it does anything else. The host kills this process when
# the command is over, so that the end of the input means that the host is gone.
trap '' HUP INT QUIT TERM
read -r leader || exit 0
read -r _
kill -KILL "-$leader"
# Processes of the session may have groups of their own. Where there is no /proc they stay.
seen=" $leader "
found=1
while [ "$found" ]; do
  found=
  for stat in /proc/[0-9]*/stat; do
    read -r line <"$stat" || continue
    # After the name, which is in parentheses: state, parent, group, session.
    set -- ${line##*)}
    [ "$4" = "$leader" ] || continue
    case $seen in *" $3 "*) continue ;; esac
    kill -KILL "-$3"
    seen="$seen$3 "
    found=1
  done
done
