# Kills a session whose host has died. The host holds the other end of standard input; the first line
# there is the process id of the session's leader. The host kills this process when the session is
# over, so that the end of the input means that the host is gone.
trap '' HUP INT QUIT TERM
read -r leader || exit 0
while read -r _; do :; done

# Stops the group of a process, and remembers it.
stop() {
  case $groups in *" $1 "*) return ;; esac
  groups="$groups$1 "
  kill -STOP "-$1"
}

# The processes of the session and their descendants, with those that share a session with one of them.
# Each is stopped when it is found: what is stopped starts nothing more, so that there is an end to
# them. Where there is no /proc they are one group.
tree=' '
groups=' '
sessions=" $leader "
stop "$leader"
grown=1
while [ "$grown" ]; do
  grown=
  for stat in /proc/[0-9]*/stat; do
    process=${stat#/proc/}
    process=${process%/stat}
    case $tree in *" $process "*) continue ;; esac
    # The name, which is in parentheses, may hold anything, also ends of lines. Behind it are state,
    # parent, group and session.
    line=
    while read -r part; do line="$line $part"; done <"$stat"
    set -- ${line##*)}
    case $sessions in
      *" $4 "*) ;;
      *) case $tree in *" $2 "*) sessions="$sessions$4 " ;; *) continue ;; esac ;;
    esac
    tree="$tree$process "
    grown=1
    stop "$3"
  done
done
for group in $groups; do
  kill -KILL "-$group"
done
