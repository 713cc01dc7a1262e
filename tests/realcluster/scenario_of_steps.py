#!/usr/bin/env python3
"""scenario_of_steps.py FOLDER OUT: a scenario of schedsim for each `dump` of FOLDER/steps, as OUT/N-LABEL.yaml.

FOLDER/steps says what to do with a real cluster, a line each: `kubectl ARGS`, `background kubectl ARGS`,
`wait SECONDS`, `settle [QUIET] [MAX]`, `sleep SECONDS`, `dump LABEL`. The N-th scenario does all that comes before
the N-th dump, and ends there. What kubectl does that no scenario can do is an error that names the line.
"""
import json
import os
import shlex
import sys

# In seconds: how long a command takes, and how long a cluster is busy before it is quiet, about.
COMMAND = 0.2
BUSY = 3
# Nobody makes volumes in such a cluster; a name that no class has, since without one everybody does.
NO_PROVISIONER = 'none.example'

KINDS = {'pdb': 'PodDisruptionBudget', 'poddisruptionbudget': 'PodDisruptionBudget', 'pvc': 'PersistentVolumeClaim',
         'resourcequota': 'ResourceQuota', 'namespace': 'Namespace', 'node': 'Node', 'pod': 'Pod', 'deployment': 'Deployment',
         'statefulset': 'StatefulSet', 'daemonset': 'DaemonSet', 'replicaset': 'ReplicaSet', 'job': 'Job', 'cronjob': 'CronJob'}


class Command:
    """The words of a kubectl command: positional ones, and options with their values."""

    VALUED = ('-f', '-n', '-p', '--namespace', '--patch', '--type')

    def __init__(self, words):
        self.words, self.options = [], {}
        words = list(words)
        while words:
            word = words.pop(0)
            if word in self.VALUED:
                self.options[word] = words.pop(0)
            elif word.startswith('-') and len(word) > 1 and not word.endswith('-'):
                name, _, value = word.partition('=')
                self.options[name] = value
            else:
                self.words.append(word)

    def target(self, kind, name):
        target = {'kind': KINDS[kind.lower()], 'name': name}
        space = self.options.get('-n', self.options.get('--namespace'))
        if space:
            target['namespace'] = space
        return target


def patch(target, value, kind='strategic'):
    return {'patch': {**target, 'type': kind, 'patch': value}}


def taint(word):
    key, _, effect = word.rstrip('-').partition(':')
    key, _, value = key.partition('=')
    return {k: v for k, v in (('key', key), ('value', value), ('effect', effect)) if v}


def entry(folder, words):
    """The timeline's entry for a kubectl command."""
    verb, command = words[0], Command(words[1:])
    rest = command.words
    if verb == 'create':
        return {'create': os.path.join(folder, command.options['-f'])}
    if verb == 'scale':
        return {'scale': {**command.target(rest[0], rest[1]), 'replicas': int(command.options['--replicas'])}}
    if verb == 'patch':
        return patch(command.target(rest[0], rest[1]), json.loads(command.options['-p']), command.options.get('--type', 'strategic'))
    if verb == 'set' and rest[0] == 'image':
        container, _, image = rest[2].partition('=')
        template = {'spec': {'containers': [{'name': container, 'image': image}]}}
        return patch(command.target(*rest[1].split('/')), {'spec': {'template': template}})
    if verb == 'delete':
        target = command.target(rest[0], rest[1])
        if command.options.get('--cascade') == 'orphan':
            target['cascade'] = 'orphan'
        return {'delete': target}
    if verb in ('cordon', 'uncordon'):
        return {verb: rest}
    if verb == 'drain':
        return {'drain': {'nodes': rest, 'timeout': command.options.get('--timeout', '10m')}}
    if verb == 'label':
        labels = {w.rstrip('-'): None for w in rest[2:] if w.endswith('-')}
        labels.update(w.split('=', 1) for w in rest[2:] if '=' in w)
        return {'label': {**command.target(rest[0], rest[1]), 'labels': labels}}
    if verb == 'taint':
        return {'untaint' if rest[2].endswith('-') else 'taint': {'nodes': [rest[1]], 'taints': [taint(rest[2])]}}
    raise ValueError('no entry of a timeline does this')


def main():
    folder, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    folder = os.path.abspath(folder)
    now, timeline, dumps = 0, [], 0
    for number, line in enumerate(open(os.path.join(folder, 'steps')), 1):
        verb, _, rest = line.strip().partition(' ')
        words = rest.split()
        if not verb or verb.startswith('#'):
            continue
        if verb in ('kubectl', 'background'):
            words = shlex.split(rest)
            try:
                action = entry(folder, words[1:] if verb == 'background' else words)
            except (ValueError, KeyError, IndexError) as error:
                sys.exit(f'{folder}/steps:{number}: {line.strip()}: {error}')
            timeline.append({'at': f'{now:.1f}s', **action})
            now += COMMAND
        elif verb == 'settle':
            now += BUSY + float(words[0] if words else 5)
        elif verb in ('sleep', 'wait'):
            now += float(words[0])
        elif verb == 'dump':
            dumps += 1
            scenario = {'apiVersion': 'schedsim/v1', 'kind': 'Scenario', 'metadata': {'name': f'{dumps}-{rest}'},
                        'provisioners': [NO_PROVISIONER], 'timeline': timeline, 'end': f'{now:.1f}s'}
            with open(os.path.join(out, f'{dumps}-{rest}.yaml'), 'w', encoding='utf-8') as file:
                json.dump(scenario, file, indent=1)
        else:
            sys.exit(f'{folder}/steps:{number}: {verb}: expected kubectl, background, wait, settle, sleep or dump')


main()
