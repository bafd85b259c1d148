#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes of docs/howto/ci.md for GitHub Actions, GitLab and make: the files are YAML with keys that the services
# know, and their commands pass in a clone of a repository, fail there with the gate's status when a function got
# longer, and leave the reports that they name.  What installs packages is not run.
. "$TOP/tests/lib.sh"
need python3 jq git make
python3 -c 'import yaml' 2>/dev/null || skip "python3-yaml is not installed"

# recipe FIRST_LINE: the block of the page that begins with this line, as JSON; a key `on` is no truth value here
recipe() {
	awk -v first="    $1" '$0 == first { on = 1 } on && /^[^ ]/ { exit } on { sub(/^    /, ""); print }' \
		"$TOP/docs/howto/ci.md" |
		python3 -c 'import json, sys, yaml
load = yaml.BaseLoader
print(json.dumps(yaml.load(sys.stdin, load)))'
}
recipe 'on: pull_request' >github.json
recipe 'gate:' >gitlab.json
same "GitHub's file has the keys of a workflow" "$(jq -c keys github.json)" '["jobs","on"]'
same "its job the keys of a job" "$(jq -c '.jobs.gate | keys' github.json)" '["container","runs-on","steps"]'
same "each step runs or uses something, and has no key that is unknown" "$(jq '[.jobs.gate.steps[] |
	select((has("run") != has("uses")) and (keys - ["run", "uses", "if", "with"] == []))] | length' github.json)" \
	"$(jq '.jobs.gate.steps | length' github.json)"
same "GitLab's job has the keys of a job" "$(jq -c '.gate | keys' gitlab.json)" '["artifacts","image","script"]'
same "its report is of JUnit" "$(jq -r '.gate.artifacts.reports.junit' gitlab.json)" gate.xml

# A repository with a program, its list and its baseline.
mkdir repository bin && ln -s "$SOFTPMU" bin/softpmu
cp "$TOP"/docs/examples/gate/* repository
export PATH="$work/bin:$PATH" GIT_CONFIG_GLOBAL=/dev/null GITHUB_STEP_SUMMARY="$work/summary"
commit() { git add -A && git -c user.name=a -c user.email=a@localhost commit -qm "$1"; }
(cd repository && git init -q && make -s baseline >/dev/null && printf 'words\nliborder.so\n' >.gitignore &&
	commit equal)
git clone -q repository longer
(cd longer && sed 's/ROUNDS = 100/ROUNDS = 101/' words.c >new && mv new words.c && commit longer)

jq -r '.jobs.gate.steps[] | select(.run and (.if | not)) | .run' github.json | grep -v '^apt-get' >github.sh
jq -r '.gate.script[]' gitlab.json | grep -v '^apt-get' >gitlab.sh
jq -r '.jobs.gate.steps[] | select(.if == "always()" and .run).run' github.json >always.sh
echo 'make gate' >make.sh
for service in github gitlab make; do
	check "$service: there is something to run" test -s $service.sh
	for commit in repository longer; do
		git clone -q $commit run
		(cd run && sh -e ../$service.sh) >out 2>&1
		status=$?
		case $service:$commit in
		make:longer) expected=2 ;;	# of make, which says Error 3
		*:longer) expected=3 ;;
		*) expected=0 ;;
		esac
		same "$service: exit status of the commit $commit" $status $expected || cat out
		if [ $commit = longer ]; then
			has "$service: the function is named" \
				'^  in hash \[words\]: .*instructions (+\(0.9\|1.0\)[0-9] %)' out
		else
			has "$service: the counts are equal" '^Gate: the counts are equal' out
		fi
		[ $service != make ] || grep -q 'Error 3' out || [ $commit != longer ] || bad "make names status 3" out
		[ $service = make ] || check "$service: $commit: the report is there" test -s run/gate.xml
		if [ $service = github ]; then
			(cd run && sh -e ../always.sh)
			same "the page of the run gets the result" $? 0
		fi
		rm -rf run
	done
done
has "it has the function" '^| hash' summary
exit $failed
