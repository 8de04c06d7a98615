// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockAnnotations;

/**
 * Warns of beans that call their own annotated methods: such a call bypasses the proxy
 * and acquires no lock. The check reads the class files of a bean. It takes each object
 * of the class for the bean itself, unless the bean has a field with its own proxy. It
 * does not find calls from other classes (such as anonymous ones), from overridden
 * methods, or of methods of a generic superclass.
 */
final class SelfInvocationCheck {

	private static final Log logger = LogFactory.getLog(SelfInvocationCheck.class);

	private static final int WITHOUT_A_BEAN = Opcodes.ACC_STATIC | Opcodes.ACC_BRIDGE | Opcodes.ACC_ABSTRACT;

	private static final String LAMBDA = "lambda$";

	private final Set<String> known = new HashSet<>();

	/**
	 * Check a bean.
	 * @param type its class
	 * @param locked its methods with a lock
	 */
	void check(Class<?> type, List<Method> locked) {
		Set<Class<?>> parts = new LinkedHashSet<>();
		for (Class<?> part = type; part != null; part = part.getSuperclass()) {
			parts.add(part);
		}
		parts.addAll(ClassUtils.getAllInterfacesForClassAsSet(type));
		parts.removeIf((part) -> part.getName().startsWith("java."));
		try {
			if (parts.stream().noneMatch((part) -> hasProxyOf(parts, part))) {
				Code code = new Code(type, parts, locked);
				for (Class<?> part : parts) {
					code.read(part);
				}
			}
		}
		catch (IOException | RuntimeException | LinkageError ex) {
			// A class file of a later format, or a field whose class is missing
			logger.debug("The code of " + type.getName() + " cannot be read", ex);
		}
	}

	private static boolean hasProxyOf(Set<Class<?>> parts, Class<?> part) {
		return Arrays.stream(part.getDeclaredFields())
			.map(ResolvableType::forField)
			.anyMatch((field) -> parts.contains(field.toClass())
					|| (!Collection.class.isAssignableFrom(field.toClass()) && parts.contains(field.resolveGeneric())));
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

		Code(Class<?> type, Set<Class<?>> parts, List<Method> locked) {
			super(SpringAsmInfo.ASM_VERSION);
			this.type = type;
			this.part = type;
			parts.forEach((part) -> this.owners.add(Type.getInternalName(part)));
			locked.forEach((method) -> this.locked.put(method.getName() + Type.getMethodDescriptor(method), method));
		}

		/** There is no class file in a native image. */
		void read(Class<?> part) throws IOException {
			this.part = part;
			try (InputStream file = part.getResourceAsStream(ClassUtils.getClassFileName(part))) {
				if (file != null) {
					new ClassReader(file).accept(this, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
				}
			}
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
				String @Nullable [] exceptions) {
			boolean isOverridden = (access & Opcodes.ACC_PRIVATE) == 0 && !this.overridden.add(name + descriptor);
			if ((access & WITHOUT_A_BEAN) != 0 || isOverridden) {
				return null;
			}
			return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {

				@Override
				public void visitMethodInsn(int opcode, String owner, String callee, String types,
						boolean isInterface) {
					check(name, descriptor, owner, callee + types);
				}

				@Override
				public void visitInvokeDynamicInsn(String callee, String types, Handle bootstrap, Object... arguments) {
					for (Object argument : arguments) {
						if (argument instanceof Handle method) {
							check(name, descriptor, method.getOwner(), method.getName() + method.getDesc());
						}
					}
				}

			};
		}

		private void check(String name, String descriptor, String owner, String call) {
			Method callee = this.owners.contains(owner) ? this.locked.get(call) : null;
			if (callee != null && !call.equals(name + descriptor) && !isCovered(name, callee)) {
				report(this.type, this.part, source(name), callee);
			}
		}

		/** A lambda belongs to the method that contains it in the source. */
		private String source(String method) {
			int end = method.lastIndexOf('$');
			return (method.startsWith(LAMBDA) && end > LAMBDA.length()) ? method.substring(LAMBDA.length(), end)
					: method;
		}

		private boolean isCovered(String caller, Method callee) {
			return this.locked.values()
				.stream()
				.anyMatch((method) -> method.getName().equals(source(caller)) && haveSameLock(method, callee));
		}

		/** Without a name, the lock of each method has a name of its own. */
		private boolean haveSameLock(Method caller, Method callee) {
			List<DistributedLock> held = LockAnnotations.find(caller, this.type);
			return LockAnnotations.find(callee, this.type)
				.stream()
				.allMatch((needed) -> !needed.name().isBlank() && held.stream()
					.anyMatch((lock) -> lock.name().equals(needed.name()) && lock.key().equals(needed.key())
							&& lock.registry().equals(needed.registry())));
		}

	}

}
