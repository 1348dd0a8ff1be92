# Waits for the end of its input, which is the end of the host, and kills a session then. The first line
# of the input is the number of the session. When the session ends before the host, the host kills this.
trap '' HUP INT QUIT TERM
read -r session || exit 0
while read -r _; do :; done
kill -KILL "-$session"
# Others of the session are in groups of their own. Where there is no /proc, they are left to the end
# of their terminal. What cannot be killed is not waited for.
rounds=0
left=1
while [ -n "$left" ] && [ "$rounds" -lt 100 ]; do
  left=
  rounds=$((rounds + 1))
  for process in /proc/[0-9]*; do
    read -r stat <"$process/stat" || continue
    # Behind the name, which is in parentheses: state, parent, group and session.
    set -- ${stat##*)}
    [ "$4" = "$session" ] && [ "$1" != Z ] || continue
    kill -KILL "-$3"
    left=1
  done
done
