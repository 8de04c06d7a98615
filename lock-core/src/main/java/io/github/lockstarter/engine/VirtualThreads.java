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
			// The current thread may belong to another caller
			type.getMethod("inheritInheritableThreadLocals", boolean.class).invoke(builder, false);
			ThreadFactory factory = (ThreadFactory) type.getMethod("factory").invoke(builder);
			return (task) -> withClassLoader(factory.newThread(task));
		}
		catch (ReflectiveOperationException ex) {
			// Before JDK 21, or in a native image without them
			return null;
		}
	}

	/**
	 * Without it a thread that inherits nothing has the class loader of the JVM, from JDK
	 * 21 on, which does not see the classes of an application in an executable jar.
	 */
	static Thread withClassLoader(Thread thread) {
		thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
		return thread;
	}

}
