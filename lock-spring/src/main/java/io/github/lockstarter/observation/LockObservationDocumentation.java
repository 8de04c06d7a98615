// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of locks, and their key values.
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

	/**
	 * The wait for a lock, or for several locks together, from the request to its
	 * outcome.
	 */
	ACQUIRE("distributed.lock.acquire", "acquire"),

	/**
	 * The hold of a lock, or of several that were acquired together, from the grant to
	 * the release of the last one. A nested acquisition shares the hold of the outer one.
	 */
	HOLD("distributed.lock.hold", "hold");

	private final String name;

	private final String verb;

	LockObservationDocumentation(String name, String verb) {
		this.name = name;
		this.verb = verb;
	}

	String verb() {
		return this.verb;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
		return DefaultLockObservationConvention.class;
	}

	@Override
	public KeyName[] getLowCardinalityKeyNames() {
		return LowCardinalityKeyNames.values();
	}

	@Override
	public KeyName[] getHighCardinalityKeyNames() {
		return (this == ACQUIRE) ? HighCardinalityKeyNames.values()
				: new KeyName[] { HighCardinalityKeyNames.KEY, HighCardinalityKeyNames.TOKEN };
	}

	@Override
	public String getPrefix() {
		return "lock";
	}

	/**
	 * Key values that are tags of the meters.
	 */
	public enum LowCardinalityKeyNames implements KeyName {

		/**
		 * The name of the lock; {@code several} for locks of different names that are
		 * acquired together; {@code other} for all further names after the first 100 of a
		 * registry.
		 */
		NAME("lock.name"),

		/**
		 * The mode: {@code exclusive}, {@code fair}, {@code read}, {@code write}, or
		 * {@code several}.
		 */
		MODE("lock.mode"),

		/**
		 * The name of the registry, which is that of its store unless the application
		 * gives it another one.
		 */
		STORE("lock.store"),

		/**
		 * The {@linkplain LockObservationContext.Outcome outcome}, once it is known.
		 */
		OUTCOME("lock.outcome");

		private final String key;

		LowCardinalityKeyNames(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

	/**
	 * Key values that only traces have.
	 */
	public enum HighCardinalityKeyNames implements KeyName {

		/**
		 * The key within the name, or the first keys of several locks.
		 */
		KEY("lock.key"),

		/**
		 * The fencing token of the lease of a single lock.
		 */
		TOKEN("lock.token"),

		/**
		 * The instance that held the lock, if it was contended. Only acquisitions have
		 * it.
		 */
		HOLDER("lock.holder");

		private final String key;

		HighCardinalityKeyNames(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

}
