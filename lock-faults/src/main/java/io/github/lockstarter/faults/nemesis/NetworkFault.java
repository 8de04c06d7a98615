// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.List;

import io.github.lockstarter.faults.nemesis.TcpProxy.Weather;
import io.github.lockstarter.faults.worker.Mode;

/**
 * Faults of the network between the instances and the servers.
 */
public enum NetworkFault implements Fault {

	/** Requests are executed, but their replies are lost. */
	ANSWERS_CUT(Nature.of("connections cut before the answer", SiteKind.ONE_OF_EACH_STORE,
			(attack) -> weather(attack, Weather.CUT, attack.leases(0.7)))),

	/** Every command takes a part of the lease. */
	ANSWERS_SLOW(Nature.of("answers 400 ms late", SiteKind.ONE_OF_EACH_STORE,
			(attack) -> weather(attack, Weather.SLOW, attack.leases(2)))),

	/** Only time-outs reveal it. */
	BLACK_HOLE(Nature.of("network that swallows everything, for longer than the lease", SiteKind.ONE_OF_EACH_STORE,
			(attack) -> weather(attack, Weather.BLACK_HOLE, attack.longerThanLease()))),

	/** Servers execute requests whose owners never hear of it. */
	ANSWERS_SWALLOWED(Nature
		.of("network that swallows the answers, for longer than the lease", SiteKind.OTHER_STORES,
				(attack) -> weather(attack, Weather.ONE_WAY, attack.longerThanLease()))
		.with(Mode.LINGERING)),

	/** Requests under way have an unknown outcome. */
	CONNECTIONS_CUT(Nature
		.of("all connections cut, again and again", SiteKind.OTHER_STORES,
				(attack) -> attack.repeat(() -> attack.networks().forEach(TcpProxy::cut)))
		.with(Mode.LINGERING)),

	/** Its locks expire, and the other instances go on. */
	INSTANCE_CUT_OFF(Nature.of("one instance cut off for longer than the lease", SiteKind.OTHER_STORES, (attack) -> {
		int worker = attack.random().nextInt(Crew.SIZE);
		attack.weather(attack.site().networks(worker), Weather.BLACK_HOLE, attack.longerThanLease());
	}).with(Mode.LINGERING)),

	/**
	 * By the time it is notified of a release, nearer instances have already requested
	 * the lock.
	 */
	INSTANCE_FAR(Nature
		.of("network with a round trip of 30 ms for one instance", SiteKind.OTHER_STORES,
				(attack) -> attack.weather(attack.site().networks(0), Weather.FAR, Duration.ofSeconds(4)))
		.with(Mode.LONELY));

	private final Nature nature;

	NetworkFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static void weather(Attack attack, Weather weather, Duration duration) throws Exception {
		attack.weather(List.copyOf(attack.networks()), weather, duration);
	}

}
