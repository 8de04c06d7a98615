// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Rule;

/**
 * The numeric settings of a {@link DefaultLockRegistry}.
 *
 * @param waitTime default wait time of a request
 * @param leaseTime length of a lease that is renewed; the locks of a crashed JVM are held
 * for this long
 * @param renewalsPerLease how often such a lease is renewed within its length, from 2 to
 * 20; the loss of a lock in the store is noticed within one renewal interval
 * @param pollInterval longest time between two attempts of a waiter while messages about
 * released locks arrive; at most 30 s, because stores forget who asks less often
 * @param pollIntervalWithoutMessages the same while no messages arrive; an instance
 * leaves a lock free for longer than that now and then, so it must be the same in all of
 * them
 * @param timeSlice how long a lock is passed on inside this JVM before it is released, or
 * 20 round trips to the store if these take longer; zero to pass nothing on
 * @param shutdownTimeout how long holders may take to finish at shutdown
 * @param outageTime how long an acquisition keeps asking a store that does not answer,
 * within its wait time
 * @param instanceName the name of this instance, which others see when it holds a lock
 * @param warnAfterWait after what time of waiting for a lock to log a warning; zero for
 * never
 * @param warnAfterHold after what time of holding a lock to log a warning; zero for never
 */
public record EngineSettings(Duration waitTime, Duration leaseTime, int renewalsPerLease, Duration pollInterval,
		Duration pollIntervalWithoutMessages, Duration timeSlice, Duration shutdownTimeout, Duration outageTime,
		String instanceName, Duration warnAfterWait, Duration warnAfterHold) {

	/** A failed renewal is tried again after a twentieth of the lease. */
	private static final int MAX_RENEWALS_PER_LEASE = 20;

	private static final Duration DEFAULT_OUTAGE_TIME = Duration.ofSeconds(2);

	private static final Duration DEFAULT_WARN_AFTER_WAIT = Duration.ofSeconds(5);

	private static final Duration DEFAULT_WARN_AFTER_HOLD = Duration.ofMinutes(1);

	/**
	 * Allowed numbers of renewals.
	 */
	public static final Rule<Integer> RENEWALS_PER_LEASE = new Rule<>(
			(number) -> number >= 2 && number <= MAX_RENEWALS_PER_LEASE,
			"must be from 2, so that one renewal may fail, to " + MAX_RENEWALS_PER_LEASE);

	private static final Rule<Duration> LEASE_TIME = Rule.leaseFrom(Duration.ofMillis(10));

	/**
	 * Settings that suit most applications.
	 */
	public static final EngineSettings DEFAULTS = new EngineSettings(Duration.ofSeconds(10), Duration.ofSeconds(30), 3,
			Duration.ofSeconds(1), Duration.ofMillis(30), Duration.ofMillis(50), Duration.ofSeconds(20));

	public EngineSettings {
		Rule.POSITIVE.require("pollInterval", pollInterval);
		Rule.POSITIVE.require("pollIntervalWithoutMessages", pollIntervalWithoutMessages);
		Rule.NOT_NEGATIVE.require("timeSlice", timeSlice);
		Rule.NOT_NEGATIVE.require("waitTime", waitTime);
		Rule.NOT_NEGATIVE.require("shutdownTimeout", shutdownTimeout);
		Rule.NOT_NEGATIVE.require("outageTime", outageTime);
		Rule.INSTANCE_NAME.require("instanceName", instanceName);
		Rule.NOT_NEGATIVE.require("warnAfterWait", warnAfterWait);
		Rule.NOT_NEGATIVE.require("warnAfterHold", warnAfterHold);
		RENEWALS_PER_LEASE.require("renewalsPerLease", renewalsPerLease);
		LEASE_TIME.require("leaseTime", leaseTime);
	}

	/**
	 * Create settings with the {@linkplain OwnerToken#instance(String) host and process}
	 * as the name of this instance, and the default warnings.
	 */
	public EngineSettings(Duration waitTime, Duration leaseTime, int renewalsPerLease, Duration pollInterval,
			Duration pollIntervalWithoutMessages, Duration timeSlice, Duration shutdownTimeout, Duration outageTime) {
		this(waitTime, leaseTime, renewalsPerLease, pollInterval, pollIntervalWithoutMessages, timeSlice,
				shutdownTimeout, outageTime, OwnerToken.instance(null), DEFAULT_WARN_AFTER_WAIT,
				DEFAULT_WARN_AFTER_HOLD);
	}

	/**
	 * Create settings with the default outage time.
	 */
	public EngineSettings(Duration waitTime, Duration leaseTime, int renewalsPerLease, Duration pollInterval,
			Duration pollIntervalWithoutMessages, Duration timeSlice, Duration shutdownTimeout) {
		this(waitTime, leaseTime, renewalsPerLease, pollInterval, pollIntervalWithoutMessages, timeSlice,
				shutdownTimeout, DEFAULT_OUTAGE_TIME);
	}

	/**
	 * Return the same settings with another name of this instance.
	 */
	public EngineSettings withInstanceName(String instanceName) {
		return new EngineSettings(this.waitTime, this.leaseTime, this.renewalsPerLease, this.pollInterval,
				this.pollIntervalWithoutMessages, this.timeSlice, this.shutdownTimeout, this.outageTime, instanceName,
				this.warnAfterWait, this.warnAfterHold);
	}

	/**
	 * Return the same settings with other warnings.
	 * @param afterWait after what time of waiting for a lock; zero for never
	 * @param afterHold after what time of holding a lock; zero for never
	 */
	EngineSettings withWarnings(Duration afterWait, Duration afterHold) {
		return new EngineSettings(this.waitTime, this.leaseTime, this.renewalsPerLease, this.pollInterval,
				this.pollIntervalWithoutMessages, this.timeSlice, this.shutdownTimeout, this.outageTime,
				this.instanceName, afterWait, afterHold);
	}

}
