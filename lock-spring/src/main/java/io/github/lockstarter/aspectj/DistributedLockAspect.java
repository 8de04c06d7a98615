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
 * Acquires the locks of annotated methods by AspectJ weaving, at load time or at compile
 * time. Private and final methods and calls within the same bean are locked too. Set
 * {@code distributed-lock.advice-mode=aspectj} to use it. Do not declare it as a bean:
 * Spring would create proxies from it.
 *
 * <p>
 * A woven method runs inside all proxies of its bean. A transaction that a proxy began is
 * already active when the lock is acquired. By default, the lock is then held until that
 * transaction completes (see {@link io.github.lockstarter.OnActiveTransaction}), but data
 * that the transaction read earlier may be stale. Woven transactions and caches of Spring
 * run inside the lock, woven asynchronous calls outside it.
 *
 * <p>
 * The aspect does not see annotations on interfaces or on overridden methods; beans that
 * have them are refused at startup. If the application uses proxies, woven methods leave
 * locking to the proxies. If no application context is open, as in a plain unit test,
 * woven methods throw an exception.
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
	 * The {@code within} lets the weaver skip all other classes early.
	 */
	private static final String OF_CLASSES = "(within(" + ANNOTATED + " *) && execution(public !static * (" + ANNOTATED
			+ " *).*(..))) || (within(" + REPEATED + " *) && execution(public !static * (" + REPEATED
			+ " *).*(..))) || (within(" + META + " *) && execution(public !static * (" + META
			+ " *).*(..))) || (within(" + META_REPEATED + " *) && execution(public !static * (" + META_REPEATED
			+ " *).*(..))) || (within(" + META_OF_META + " *) && execution(public !static * (" + META_OF_META
			+ " *).*(..))) || (within(" + META_OF_META_REPEATED + " *) && execution(public !static * ("
			+ META_OF_META_REPEATED + " *).*(..)))";

	/**
	 * CGLIB proxies inherit the annotation of a class and call its woven methods. AspectJ
	 * splits the names of nested classes at the dollar signs.
	 */
	private static final String PROXIES = "within(*..*SpringCGLIB*) || within(*..*SpringCGLIB*..*)";

	private static final DistributedLockAspect instance = new DistributedLockAspect();

	private final List<DistributedLockWeaving> contexts = new ArrayList<>();

	private volatile @Nullable DistributedLockWeaving newest;

	private DistributedLockAspect() {
	}

	/**
	 * Return the only instance. Woven methods call this.
	 */
	public static DistributedLockAspect aspectOf() {
		return instance;
	}

	/**
	 * Run a woven method under its lock.
	 * @param joinPoint the execution of the method
	 * @return the result of the call
	 * @throws Throwable the exception of the method
	 * @throws IllegalStateException if no application context with distributed locks is
	 * open
	 */
	@Around("(" + METHODS + " || " + OF_CLASSES + ") && !(" + PROXIES + ")")
	public @Nullable Object lock(ProceedingJoinPoint joinPoint) throws Throwable {
		DistributedLockWeaving context = this.newest;
		if (context == null) {
			throw new IllegalStateException("'" + joinPoint.getSignature().toLongString()
					+ "' is woven with @DistributedLock, but no application context with distributed locks is"
					+ " open; nothing was executed. Start the application first, or exclude this class"
					+ " from weaving");
		}
		return context.invoke(new WovenInvocation(joinPoint));
	}

	synchronized void enter(DistributedLockWeaving context) {
		for (DistributedLockWeaving other : this.contexts) {
			if (other.isLocking() != context.isLocking()) {
				throw new IllegalStateException("Another open application context in this JVM uses a different"
						+ " distributed-lock.advice-mode, so woven methods could be locked twice or not at all."
						+ " Use the same mode in all contexts, or close the other context first");
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
