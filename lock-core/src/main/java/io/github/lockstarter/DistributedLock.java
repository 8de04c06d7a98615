// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs a method under a distributed lock: across all instances of the application, at
 * most one caller at a time runs the method with the same name and key.
 *
 * <p>
 * The lock is acquired before a transaction begins and released after it has ended. A
 * nested call for the same lock on the same thread, or inside the same reactive chain, is
 * reentrant and does not ask the store. A nested call that returns a future is not
 * reentrant. The body never runs without the lock.
 *
 * <p>
 * A method may return a {@link java.util.concurrent.CompletableFuture}, or a
 * {@code Mono}, {@code Flux} or another reactive type if Reactor is on the class path.
 * Its caller gets the result at once and is not blocked. The lock is acquired at the
 * call, or at each subscription, before the method itself is called on a thread that may
 * block. The lock is released when the future or publisher ends, fails or is cancelled.
 * With {@code @Async}, the thread of the executor acquires the lock and holds it until
 * the future ends. A method whose work continues after its return in a way that cannot be
 * followed, such as that of a stream, a function or a plain {@code Future}, is an invalid
 * definition.
 *
 * <p>
 * If the annotation is repeated, or its key is a collection, several locks are acquired
 * together or not at all, in an order that is the same in all instances. All annotations
 * of a method must agree on what happens if the locks cannot be acquired. The method then
 * holds a {@link LeaseSet}.
 *
 * <p>
 * On a class, the annotation applies to its public methods; one on a method replaces it.
 * The annotation can be used as a meta-annotation with
 * {@link org.springframework.core.annotation.AliasFor}. Calls within the same bean bypass
 * the lock, as with all advice by proxies; a warning at startup lists them. Use
 * {@link LockTemplate} there, or weaving with
 * {@code distributed-lock.advice-mode=aspectj}. All text attributes may contain
 * <code>${…}</code> placeholders. An invalid definition fails the start of the
 * application with an {@code InvalidLockDefinitionException}. If a lazy bean has one that
 * its declared type does not reveal, the first call fails instead.
 *
 * <p>
 * An attribute that is left out has the value that the settings of the lock's name give
 * it, {@code distributed-lock.locks.<name>}, or else its default.
 *
 * <p>
 * A lock can be lost early: the store loses its data, or the JVM pauses for longer than
 * the lease. Where that must not do harm, pass {@link Lease#fencingToken()} on to the
 * guarded resource.
 *
 * @see LockTemplate
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
@Repeatable(DistributedLocks.class)
public @interface DistributedLock {

	/**
	 * Name of what is guarded: a static label of letters, digits, {@code .}, {@code _},
	 * {@code -}, {@code $} and {@code #}, at most {@value LockKey#MAX_NAME_LENGTH}
	 * characters. Defaults to {@code ShortClass.method} of the bean; overloaded methods
	 * share this name.
	 */
	String name() default "";

	/**
	 * SpEL expression for the key within the name, for example {@code "#productId"}.
	 * Parameters are available by name and as {@code #p0} or {@code #a0}, beans as
	 * {@code @bean}, and {@code #root.method}, {@code #root.target} and
	 * {@code #root.args}. The value becomes a text as in
	 * {@link LockKey#of(String, Object)}; what has no such text, such as null, a blank
	 * text or more than {@value LockKey#MAX_KEY_LENGTH} characters, is refused with an
	 * {@link IllegalArgumentException}. Empty: one lock for the whole name.
	 *
	 * <p>
	 * A collection, an array or a stream stands for the locks of all its elements, from
	 * one to 1000, which are acquired together or not at all.
	 */
	String key() default "";

	/**
	 * Whether the lock is exclusive or shared, and whether its waiters are FIFO.
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * Name or qualifier of the {@link LockRegistry} bean that acquires the lock, for
	 * example {@code "jdbcLockRegistry"}. All locks of a method are in one registry, and
	 * the locks of two registries are different locks. Defaults to the registry that is
	 * injected by its type.
	 */
	String registry() default "";

	/**
	 * How long a call may wait for the lock, as {@code "500ms"}, {@code "3s"} or ISO-8601
	 * text; with {@code "0s"} it does not wait. Defaults to
	 * {@code distributed-lock.wait-time}.
	 */
	String waitTime() default "";

	/**
	 * Fixed length of the lease, in the form of {@link #waitTime()}; the lock is lost if
	 * the body takes longer. By default the length is
	 * {@code distributed-lock.lease-time}, and the lease is renewed until the body ends.
	 * The default suits most methods.
	 */
	String leaseTime() default "";

	/**
	 * How long the lock is kept after its grant, even if the method returns earlier; in
	 * the form of {@link #waitTime()}. If the method throws, the lock is released at
	 * once. Use it for a job that several instances start at the same time: one of them
	 * runs it, and the others find the lock still held after the job is done. That holds
	 * even if the instance crashes after the method has returned. If it crashes inside
	 * the method, the lock is free after one lease, as ever.
	 */
	String holdAtLeast() default "";

	/**
	 * How long after its grant the lock is renewed at most, in the form of
	 * {@link #waitTime()}, so that a method that hangs does not hold it for ever. After
	 * this time the lock is lost, and {@link #onLost()} applies. If the instance crashes,
	 * the lock is free after one lease, as ever. Not with a fixed {@link #leaseTime()}. A
	 * nested call shares the limit of the outer one, and its own is not applied.
	 */
	String holdAtMost() default "";

	/**
	 * What to do when another owner holds the lock for the whole wait time. Not used with
	 * a {@link #fallback()}.
	 */
	OnContention onContention() default OnContention.DEFAULT;

	/**
	 * Name of a method of the same class, with the same parameters and a matching return
	 * type, that is called instead of the body when another owner holds the lock for the
	 * whole wait time; see also {@link #onUnavailable()}. The method may have one more
	 * parameter, at the end, for the exception that would have been thrown, for example a
	 * {@link LockException}. If there is a method with this parameter and one without,
	 * the former is called. The fallback runs without the lock. It is called on the
	 * object itself, so its own annotations, for example {@code @Transactional}, have no
	 * effect.
	 */
	String fallback() default "";

	/**
	 * What to do when the store cannot be asked for the lock. Only the acquisition
	 * counts: an exception from the body always reaches the caller, and so does that of
	 * an interrupt or a lost lock.
	 */
	OnUnavailable onUnavailable() default OnUnavailable.DEFAULT;

	/**
	 * Whether transactions that begin under the lock claim its fencing token in their
	 * database, so that those of an owner whose lease is over are refused. The loss of
	 * the lock is then noticed even if this JVM was paused. The attribute has no effect
	 * on transactions that begin on other threads.
	 */
	TransactionFencing transactionFencing() default TransactionFencing.DEFAULT;

	/**
	 * What to do when the lock is lost while the body runs.
	 */
	OnLost onLost() default OnLost.DEFAULT;

}
