# Kills a command whose host has died. The host holds the other end of standard input; the command's
# shell writes its process id there before it does anything else. The host kills this process when
# the command is over, so that the end of the input means that the host is gone.
trap '' HUP INT QUIT TERM
read -r leader || exit 0
read -r _
killed=' '
more=1
while [ "$more" ]; do
  more=
  # The processes of the session and their descendants. Where there is no /proc it is one group.
  tree=" $leader "
  groups=" $leader "
  grown=1
  while [ "$grown" ]; do
    grown=
    for stat in /proc/[0-9]*/stat; do
      read -r line <"$stat" || continue
      process=${line%% *}
      case $tree in *" $process "*) continue ;; esac
      # After the name, which is in parentheses: state, parent, group, session.
      set -- ${line##*)}
      [ "$4" = "$leader" ] || case $tree in *" $2 "*) ;; *) continue ;; esac
      tree="$tree$process "
      groups="$groups$3 "
      grown=1
    done
  done
  for group in $groups; do
    case $killed in *" $group "*) continue ;; esac
    kill -KILL "-$group"
    killed="$killed$group "
    more=1
  done
done
