// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.aspectj;

import java.util.ArrayList;
import java.util.List;

import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.DeclarePrecedence;
import org.jspecify.annotations.Nullable;

/**
 * Puts the lock into annotated methods by AspectJ weaving, at load time or at compile
 * time, so that private and final methods and calls of a bean to itself are locked too.
 * Switched on by {@code distributed-lock.advice-mode=aspectj}. Do not declare it as a
 * bean: Spring would make proxies of it.
 *
 * <p>
 * A woven body is inside of every proxy of its bean. A transaction that a proxy began is
 * active already when the lock is taken: the lock is then kept until that transaction is
 * completed, see {@link io.github.lockstarter.OnActiveTransaction}, but what the
 * transaction has read before may be stale. Woven transactions and caches of Spring are
 * inside of the lock, woven asynchronous calls outside.
 *
 * <p>
 * Do not expect it to see annotations on interfaces or on overridden methods; the start
 * of the application refuses beans with such. Where the application chose proxies, woven
 * methods run as if they were not. Where no application context is open that could have
 * chosen, as in a plain unit test, they are refused.
 */
@Aspect
@DeclarePrecedence("org.springframework.scheduling.aspectj..*,"
		+ " io.github.lockstarter.aspectj.DistributedLockAspect, org.springframework.cache.aspectj..*,"
		+ " org.springframework.transaction.aspectj..*")
public final class DistributedLockAspect {

	private static final String ANNOTATED = "@io.github.lockstarter.DistributedLock";

	private static final String REPEATED = "@io.github.lockstarter.DistributedLocks";

	private static final String META = "@(" + ANNOTATED + " *)";

	private static final String META_REPEATED = "@(" + REPEATED + " *)";

	private static final String META_OF_META = "@(" + META + " *)";

	private static final String META_OF_META_REPEATED = "@(" + META_REPEATED + " *)";

	private static final String METHODS = "execution(" + ANNOTATED + " * *(..)) || execution(" + REPEATED
			+ " * *(..)) || execution(" + META + " * *(..)) || execution(" + META_REPEATED + " * *(..)) || execution("
			+ META_OF_META + " * *(..)) || execution(" + META_OF_META_REPEATED + " * *(..))";

	/**
	 * Of all other classes the weaver sees by {@code within} that there is nothing to do.
	 */
	private static final String OF_CLASSES = "(within(" + ANNOTATED + " *) && execution(public !static * (" + ANNOTATED
			+ " *).*(..))) || (within(" + REPEATED + " *) && execution(public !static * (" + REPEATED
			+ " *).*(..))) || (within(" + META + " *) && execution(public !static * (" + META
			+ " *).*(..))) || (within(" + META_REPEATED + " *) && execution(public !static * (" + META_REPEATED
			+ " *).*(..))) || (within(" + META_OF_META + " *) && execution(public !static * (" + META_OF_META
			+ " *).*(..))) || (within(" + META_OF_META_REPEATED + " *) && execution(public !static * ("
			+ META_OF_META_REPEATED + " *).*(..)))";

	/**
	 * They inherit the annotation of a class, and call methods that are woven. The names
	 * of nested ones are taken apart at the dollar signs.
	 */
	private static final String PROXIES = "within(*..*SpringCGLIB*) || within(*..*SpringCGLIB*..*)";

	private static final DistributedLockAspect instance = new DistributedLockAspect();

	private final List<DistributedLockWeaving> contexts = new ArrayList<>();

	private volatile @Nullable DistributedLockWeaving newest;

	private DistributedLockAspect() {
	}

	/**
	 * Return the only instance; called by woven methods.
	 */
	public static DistributedLockAspect aspectOf() {
		return instance;
	}

	/**
	 * Run a woven method under its lock.
	 * @param joinPoint the execution of the method
	 * @return the result of the method, or what is returned instead
	 * @throws Throwable what the method threw
	 * @throws IllegalStateException if no application context says how to lock
	 */
	@Around("(" + METHODS + " || " + OF_CLASSES + ") && !(" + PROXIES + ")")
	public @Nullable Object lock(ProceedingJoinPoint joinPoint) throws Throwable {
		DistributedLockWeaving context = this.newest;
		if (context == null) {
			throw new IllegalStateException("'" + joinPoint.getSignature().toLongString()
					+ "' is woven with @DistributedLock, and there is no open application context with distributed locks"
					+ " to take its lock from; nothing was executed. Start the application first, or leave this class"
					+ " out of the weaving");
		}
		return context.invoke(new WovenInvocation(joinPoint));
	}

	synchronized void enter(DistributedLockWeaving context) {
		for (DistributedLockWeaving other : this.contexts) {
			if (other.isLocking() != context.isLocking()) {
				throw new IllegalStateException("Another open application context of this JVM has another"
						+ " distributed-lock.advice-mode, so woven methods could be locked twice or not at all. Give"
						+ " all contexts the same, or close the other one first");
			}
		}
		this.contexts.add(context);
		this.newest = context;
	}

	synchronized void leave(DistributedLockWeaving context) {
		this.contexts.remove(context);
		this.newest = this.contexts.isEmpty() ? null : this.contexts.get(this.contexts.size() - 1);
	}

}
