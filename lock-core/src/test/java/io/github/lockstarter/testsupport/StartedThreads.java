// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.util.List;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaConstructor;

/**
 * Recognizes calls that start a thread, or leave the choice of a thread to the JDK, and
 * references to such methods.
 */
public final class StartedThreads {

	/** Classes of the JDK and of Spring whose constructors lead to threads. */
	private static final List<String> OWNERS_OF_THREADS = List.of(Thread.class.getName(),
			ThreadPoolExecutor.class.getName(), ForkJoinPool.class.getName(), Timer.class.getName(),
			"org.springframework.core.task.SimpleAsyncTaskExecutor",
			"org.springframework.core.task.VirtualThreadTaskExecutor",
			"org.springframework.scheduling.concurrent.ExecutorConfigurationSupport");

	private StartedThreads() {
	}

	/**
	 * Return the predicate for such calls and references.
	 */
	public static DescribedPredicate<JavaAccess<?>> by() {
		return DescribedPredicate.describe("starts threads",
				(access) -> access instanceof JavaCodeUnitAccess<?> call && isStarting(call));
	}

	private static boolean isStarting(JavaCodeUnitAccess<?> call) {
		JavaClass type = call.getTargetOwner();
		boolean constructor = call.getName().equals(JavaConstructor.CONSTRUCTOR_NAME);
		boolean factory = (type.isEquivalentTo(Thread.class)
				&& Set.of("ofVirtual", "ofPlatform", "startVirtualThread").contains(call.getName()))
				|| (type.isAssignableTo(ThreadFactory.class) && call.getName().equals("newThread"));
		boolean started = type.isAssignableTo(Thread.class) && call.getName().equals("start");
		boolean ownThreads = constructor && OWNERS_OF_THREADS.stream().anyMatch(type::isAssignableTo);
		boolean anyThread = type.isAssignableTo(CompletionStage.class) && call.getName().endsWith("Async")
				&& call.getTarget()
					.getRawParameterTypes()
					.stream()
					.noneMatch((parameter) -> parameter.isEquivalentTo(Executor.class));
		boolean commonPool = call.getName().equals("commonPool")
				|| (call.getName().equals("delayedExecutor") && call.getTarget().getRawParameterTypes().size() == 2);
		return factory || started || ownThreads || anyThread || commonPool || type.isEquivalentTo(Executors.class);
	}

}
