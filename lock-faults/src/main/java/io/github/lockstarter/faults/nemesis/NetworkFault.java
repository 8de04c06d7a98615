// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.time.Duration;
import java.util.Collection;

import io.github.lockstarter.faults.worker.Mode;
import io.github.lockstarter.servers.Network;

/**
 * Faults of the network between the instances and the servers.
 */
public enum NetworkFault implements Fault {

	/** Requests are executed, but their replies are lost. */
	ANSWERS_CUT(Nature.of("connections cut before the answer", SiteKind.ONE_OF_EACH_STORE,
			(attack) -> attack.disturb(attack.networks(), Network::loseAnswers, attack.leases(0.7)))),

	/** Every command takes a part of the lease. */
	ANSWERS_SLOW(Nature.of("answers 400 ms late", SiteKind.ONE_OF_EACH_STORE,
			(attack) -> delay(attack, attack.networks(), Duration.ofMillis(400), attack.leases(2)))),

	/** Only time-outs reveal it. */
	BLACK_HOLE(Nature.of("network that swallows everything, for longer than the lease", SiteKind.ONE_OF_EACH_STORE,
			(attack) -> attack.disturb(attack.networks(), Network::cut, attack.longerThanLease()))),

	/** Servers execute requests whose owners never hear of it. */
	ANSWERS_SWALLOWED(Nature
		.of("network that swallows the answers, for longer than the lease", SiteKind.OTHER_STORES,
				(attack) -> attack.disturb(attack.networks(), Network::cutAnswers, attack.longerThanLease()))
		.with(Mode.LINGERING)),

	/** Requests under way have an unknown outcome. */
	CONNECTIONS_CUT(Nature
		.of("all connections cut, again and again", SiteKind.OTHER_STORES,
				(attack) -> attack.repeat(() -> attack.networks().forEach(Network::reset)))
		.with(Mode.LINGERING)),

	/** Its locks expire, and the other instances go on. */
	INSTANCE_CUT_OFF(Nature.of("one instance cut off for longer than the lease", SiteKind.OTHER_STORES, (attack) -> {
		int worker = attack.random().nextInt(Crew.SIZE);
		attack.disturb(attack.site().networks(worker), Network::cut, attack.longerThanLease());
	}).with(Mode.LINGERING)),

	/**
	 * By the time it is notified of a release, nearer instances have already requested
	 * the lock.
	 */
	INSTANCE_FAR(
			Nature
				.of("network with a round trip of 30 ms for one instance", SiteKind.OTHER_STORES,
						(attack) -> delay(attack, attack.site().networks(0), Duration.ofMillis(30),
								Duration.ofSeconds(4)))
				.with(Mode.LONELY));

	private final Nature nature;

	NetworkFault(Nature nature) {
		this.nature = nature;
	}

	@Override
	public Nature nature() {
		return this.nature;
	}

	private static void delay(Attack attack, Collection<Network> networks, Duration roundTrip, Duration duration)
			throws InterruptedException {
		attack.disturb(networks, (network) -> network.delay(roundTrip), duration);
	}

}
