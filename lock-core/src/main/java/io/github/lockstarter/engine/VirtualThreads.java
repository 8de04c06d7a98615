// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.ThreadFactory;

import org.jspecify.annotations.Nullable;

/**
 * Virtual threads for a library that is compiled for a JDK without them.
 */
final class VirtualThreads {

	private VirtualThreads() {
	}

	/**
	 * Return a factory of virtual threads, or {@code null} where the JDK has none.
	 * @param prefix the beginning of their names, before a number
	 */
	static @Nullable ThreadFactory factory(String prefix) {
		try {
			Class<?> type = Class.forName("java.lang.Thread$Builder$OfVirtual");
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			type.getMethod("name", String.class, long.class).invoke(builder, prefix, 1L);
			return (ThreadFactory) type.getMethod("factory").invoke(builder);
		}
		catch (ReflectiveOperationException ex) {
			// Before JDK 21, or in a native image without them
			return null;
		}
	}

}
