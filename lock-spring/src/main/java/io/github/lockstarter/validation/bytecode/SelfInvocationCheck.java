// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation.bytecode;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockAnnotations;

/**
 * Warns of beans that call their own annotated methods: such a call bypasses the proxy
 * and acquires no lock. The check reads the class files of a bean. It does not find calls
 * from other classes (such as anonymous ones), from overridden methods, or of methods of
 * a generic superclass.
 */
public final class SelfInvocationCheck {

	private static final Log logger = LogFactory.getLog(SelfInvocationCheck.class);

	private static final int WITHOUT_A_BEAN = Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE | Opcodes.ACC_ABSTRACT;

	private static final String LAMBDA = "lambda$";

	private final Set<String> known = new HashSet<>();

	/**
	 * Check a bean.
	 * @param type its class
	 * @param locked its methods with a lock
	 */
	public void check(Class<?> type, List<Method> locked) {
		Set<Class<?>> hierarchy = new LinkedHashSet<>();
		for (Class<?> part = type; part != null && part != Object.class; part = part.getSuperclass()) {
			hierarchy.add(part);
		}
		hierarchy.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
		Code code = new Code(type, hierarchy, locked);
		hierarchy.stream().filter((part) -> !part.getName().startsWith("java.")).forEach(code::read);
	}

	private void report(Class<?> bean, Class<?> type, String caller, Method callee) {
		String call = "'" + ClassUtils.getShortName(type) + '.' + caller + "' calls '"
				+ InvalidLockDefinitionException.label(callee) + "' of the same bean";
		if (this.known.add(call)) {
			logger.warn(call + ", which bypasses the proxy: that call runs without the lock. Inject an"
					+ " ObjectProvider<" + ClassUtils.getShortName(bean) + "> and call getObject()." + callee.getName()
					+ "(…), use a LockTemplate, or set"
					+ " distributed-lock.advice-mode=aspectj and weave the class: see 'Weaving' in docs/reference.md of"
					+ " this library");
		}
	}

	/** Reads the code of a bean, from its own class upwards. */
	private final class Code extends ClassVisitor {

		private final Class<?> type;

		private final Set<String> owners = new HashSet<>();

		private final Map<String, Method> locked = new HashMap<>();

		private final Set<String> overridden = new HashSet<>();

		private Class<?> part;

		Code(Class<?> type, Set<Class<?>> hierarchy, List<Method> locked) {
			super(SpringAsmInfo.ASM_VERSION);
			this.type = type;
			this.part = type;
			hierarchy.forEach((part) -> this.owners.add(Type.getInternalName(part)));
			locked.forEach((method) -> this.locked.put(method.getName() + Type.getMethodDescriptor(method), method));
		}

		void read(Class<?> part) {
			this.part = part;
			StoredClass.accept(part, new CallFrames(this));
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
				String @Nullable [] exceptions) {
			boolean isOverridden = (access & Opcodes.ACC_PRIVATE) == 0 && !this.overridden.add(name + descriptor);
			if ((access & WITHOUT_A_BEAN) != 0 || isOverridden) {
				return null;
			}
			return new SelfCalls((owner, method) -> {
				Method callee = this.owners.contains(owner) ? this.locked.get(method) : null;
				if (callee != null && !method.equals(name + descriptor) && !isCovered(name, descriptor, callee)) {
					report(this.type, this.part, source(name), callee);
				}
			});
		}

		/** A lambda belongs to the method that contains it in the source. */
		private String source(String method) {
			int end = method.lastIndexOf('$');
			return (method.startsWith(LAMBDA) && end > LAMBDA.length()) ? method.substring(LAMBDA.length(), end)
					: method;
		}

		private boolean isCovered(String name, String descriptor, Method callee) {
			String source = source(name);
			Method caller = this.locked.get(name + descriptor);
			return (caller != null) ? haveSameLock(caller, callee)
					: !source.equals(name) && this.locked.values()
						.stream()
						.anyMatch((method) -> method.getName().equals(source) && haveSameLock(method, callee));
		}

		private boolean haveSameLock(Method method, Method other) {
			List<DistributedLock> locks = LockAnnotations.find(method, this.type);
			return LockAnnotations.find(other, this.type)
				.stream()
				.allMatch((needed) -> locks.stream().anyMatch((lock) -> isSame(lock, method, needed, other)));
		}

		private static boolean isSame(DistributedLock lock, Method method, DistributedLock needed, Method other) {
			return name(lock, method).equals(name(needed, other)) && lock.key().equals(needed.key())
					&& (lock.mode() != LockMode.READ || needed.mode() == LockMode.READ);
		}

		private static String name(DistributedLock lock, Method method) {
			return lock.name().isBlank() ? method.getName() : lock.name();
		}

	}

}
