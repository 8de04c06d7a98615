// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.EnumSet;
import java.util.List;

import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.faults.worker.ZooKeeperSession;
import io.github.lockstarter.servers.ZooKeeperServer;

/**
 * Faults of some members of an ensemble.
 */
public enum EnsembleFault implements Fault {

	/** A majority goes on at once. */
	FOLLOWER_KILLED(of("a follower killed for longer than the session",
			(attack) -> kill(attack, List.of(attack.ensemble().followers().get(0))))),

	/** No lock can be acquired before the next leader is elected. */
	LEADER_KILLED(of("the leader killed for longer than the session",
			(attack) -> kill(attack, List.of(attack.ensemble().leader())))),

	/** It sends late what it has kept. */
	LEADER_PAUSED(of("the leader paused for longer than the session (SIGSTOP)", (attack) -> {
		ZooKeeperServer leader = attack.ensemble().leader();
		leader.pause();
		lastLongerThanSession(attack);
		leader.resume();
		attack.ensemble().awaitComplete();
	})),

	/** Its clients still reach it. */
	FOLLOWER_ISOLATED(of("a follower cut off from the other members for longer than the session",
			(attack) -> isolate(attack, attack.ensemble().followers().get(0)))),

	/** It goes on as leader until it notices. */
	LEADER_ISOLATED(of("the leader cut off from the other members for longer than the session",
			(attack) -> isolate(attack, attack.ensemble().leader()))),

	/** No lock can be acquired, and each owner must notice in time. */
	MAJORITY_KILLED(of("two of three members killed for longer than the session",
			(attack) -> kill(attack, attack.ensemble().members().subList(0, 2))));

	private final Nature nature;

	EnsembleFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static Nature of(String title, Strike strike) {
		return Nature.of(title, EnumSet.of(SiteKind.ZOOKEEPER), strike).with(Mode.LINGERING);
	}

	private static void kill(Attack attack, List<ZooKeeperServer> members) throws InterruptedException {
		members.forEach(ZooKeeperServer::kill);
		lastLongerThanSession(attack);
		members.forEach(ZooKeeperServer::restart);
		attack.ensemble().awaitComplete();
	}

	private static void isolate(Attack attack, ZooKeeperServer member) throws InterruptedException {
		attack.ensemble().isolate(member);
		lastLongerThanSession(attack);
		attack.ensemble().heal();
	}

	private static void lastLongerThanSession(Attack attack) throws InterruptedException {
		attack.last(ZooKeeperSession.timeout(attack.leases(1.3)));
	}

}
