//! Binding of the textures and surfaces of a launch file.

use super::image_spec::{SurfaceSpec, TextureSpec};
use super::value::{Handle, Scope};
use super::{Launch, Named};
use crate::diag::{Diagnostic, Diagnostics, Place};
use crate::program::expr::Expr;
use crate::program::image::{
    AddressMode, Bound, Filter, Format, Geometry, Image, MAX_IMAGES, Sampler, object_handle,
};
use crate::program::layout::GLOBALS_BASE;
use crate::program::{KernelCode, Reference, names, template};

/// The maximum number of texels along an axis, which is that of linear memory.
const MAX_EXTENT: i128 = 1 << 28;

/// A texture or a surface.
#[derive(Clone, Copy, Debug)]
pub(in crate::program) enum ImageSpec<'a> {
    Texture(&'a TextureSpec),
    Surface(&'a SurfaceSpec),
}

/// The layout of texels in memory. Textures and surfaces specify it with the same fields.
struct TexelLayout<'a> {
    buffer: &'a str,
    offset: &'a Expr,
    format: Format,
    width: &'a Expr,
    height: Option<&'a Expr>,
    depth: Option<&'a Expr>,
    layers: Option<&'a Expr>,
    pitch: Option<&'a Expr>,
}

impl ImageSpec<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Texture(texture) => &texture.name,
            Self::Surface(surface) => &surface.name,
        }
    }

    fn texel_layout(&self) -> TexelLayout<'_> {
        match *self {
            Self::Texture(TextureSpec {
                buffer,
                offset,
                elem,
                channels,
                width,
                height,
                depth,
                layers,
                pitch,
                ..
            })
            | Self::Surface(SurfaceSpec {
                buffer,
                offset,
                elem,
                channels,
                width,
                height,
                depth,
                layers,
                pitch,
                ..
            }) => TexelLayout {
                buffer,
                offset,
                format: Format { elem: *elem, channels: *channels },
                width,
                height: height.as_ref(),
                depth: depth.as_ref(),
                layers: layers.as_ref(),
                pitch: pitch.as_ref(),
            },
        }
    }
}

/// Returns the textures and surfaces of a file with their locations.
pub(in crate::program) fn specs<'a, 'p>(
    textures: &'a [TextureSpec],
    surfaces: &'a [SurfaceSpec],
    place: &Place<'p>,
) -> Vec<(ImageSpec<'a>, Place<'p>)> {
    let places = |field: &'static str| {
        let place = place.field(field);
        move |index: usize| place.item(index)
    };
    let (texture, surface) = (places("textures"), places("surfaces"));
    let textures = textures.iter().enumerate().map(|(i, spec)| (ImageSpec::Texture(spec), texture(i)));
    let surfaces = surfaces.iter().enumerate().map(|(i, spec)| (ImageSpec::Surface(spec), surface(i)));
    textures.chain(surfaces).collect()
}

/// Returns what a name of an image can refer to in the module of these kernels: its variables, and in
/// machine code, where references are no variables, the references that the kernels use.
pub(in crate::program) fn nameable<'a>(kernels: impl IntoIterator<Item = &'a KernelCode>) -> Vec<Named> {
    let mut all = Vec::new();
    for (index, kernel) in kernels.into_iter().enumerate() {
        if index == 0 {
            all = super::variables(kernel);
        }
        for Reference { name, handle, .. } in &kernel.references {
            if !all.iter().any(|known| known.name == *name) {
                all.push(Named { name: name.clone(), address: *handle, size: 0 });
            }
        }
    }
    all
}

/// Assigns handles to images. An image gets the handles of all references with its name in these
/// modules, or a new handle if there are none.
pub(in crate::program) fn handles(
    specs: &[(ImageSpec, Place)],
    modules: &[Vec<Named>],
    problems: &mut Diagnostics,
) -> Vec<Handle> {
    let mut known: Vec<Handle> = Vec::new();
    for (index, (spec, place)) in specs.iter().enumerate() {
        let name = spec.name();
        if known.iter().any(|before| before.name == name) {
            let message = format!("there are two textures or surfaces `{name}`");
            problems.push(place.field("name").error(message).hint("rename one of them"));
        }
        if index == MAX_IMAGES {
            problems.push(place.error(format!("there are more than {MAX_IMAGES} textures and surfaces")));
            break;
        }
        let mut handles = Vec::new();
        for variables in modules {
            let found = names::find_whole(name, variables.iter().map(|variable| variable.name.as_str()));
            if let names::Found::One(variable) = found
                && !handles.contains(&variables[variable].address)
            {
                handles.push(variables[variable].address);
            }
        }
        if handles.is_empty() {
            handles.push(object_handle(index));
        }
        known.push(Handle { name: name.to_owned(), surface: matches!(spec, ImageSpec::Surface(_)), handles });
    }
    known
}

/// Binds all images of a file.
pub(in crate::program) fn bind_all(
    specs: &[(ImageSpec, Place)],
    scope: &Scope,
    problems: &mut Diagnostics,
) -> Vec<Bound> {
    let mut images = Vec::new();
    for (spec, place) in specs {
        match bind(*spec, scope, place) {
            Ok(bound) => images.extend(bound),
            Err(problem) => problems.push(problem),
        }
    }
    images
}

/// Binds an image once for each of its handles.
///
/// # Errors
/// The image has no handle, exceeds its buffer, or has an unsupported sampler.
pub(in crate::program) fn bind(
    spec: ImageSpec,
    scope: &Scope,
    place: &Place,
) -> Result<Vec<Bound>, Diagnostic> {
    let surface = matches!(spec, ImageSpec::Surface(_));
    let name = spec.name();
    let handle = scope
        .image(name, surface)
        .map_err(|(message, hint)| place.field("name").error(message).hint(hint))?;
    let image = image(&spec.texel_layout(), scope, place)?;
    let sampler = match spec {
        ImageSpec::Texture(texture) => Some(sampler(texture, image.geometry, place)?),
        ImageSpec::Surface(_) => None,
    };
    let bound = |&handle: &u64| Bound { handle, name: name.to_owned(), image, sampler };
    Ok(handle.handles.iter().map(bound).collect())
}

/// Returns an image with the properties that the file gives.
fn image(layout: &TexelLayout, scope: &Scope, place: &Place) -> Result<Image, Diagnostic> {
    let extent = |field: &'static str, expr: Option<&Expr>| {
        let Some(expr) = expr else { return Ok(1) };
        let value = number(field, expr, scope, place)?;
        let fits = (1..=MAX_EXTENT).contains(&value);
        let wrong =
            || place.field(field).error(format!("a {field} of {value} is out of range: 1 to {MAX_EXTENT}"));
        if fits { Ok(value as u32) } else { Err(wrong()) }
    };
    let format = layout.format;
    if !matches!(format.channels, 1 | 2 | 4) {
        let message = format!("{} channels: a texel has 1, 2 or 4", format.channels);
        return Err(place.field("channels").error(message));
    }
    let dims = match (layout.height, layout.depth, layout.layers) {
        (None, Some(_), _) => {
            let problem = place.field("depth").error("three dimensions need a height, too");
            return Err(problem.hint("an array of images has `layers`"));
        }
        (_, Some(_), Some(_)) => {
            return Err(place.field("layers").error("images of three dimensions have no layers"));
        }
        (None, ..) => 1,
        (Some(_), None, _) => 2,
        (Some(_), Some(_), None) => 3,
    };
    let mut image = Image {
        address: 0,
        geometry: Geometry { dims, layered: layout.layers.is_some() },
        extent: [
            extent("width", Some(layout.width))?,
            extent("height", layout.height)?,
            extent("depth", layout.depth)?,
        ],
        layers: extent("layers", layout.layers)?,
        pitch: 0,
        format,
    };
    place_texels(&mut image, layout, scope, place)?;
    Ok(image)
}

/// Determines the pitch and the address of an image.
///
/// # Errors
/// The texels are not aligned, or not all in global memory of the buffer.
fn place_texels(
    image: &mut Image,
    layout: &TexelLayout,
    scope: &Scope,
    place: &Place,
) -> Result<(), Diagnostic> {
    let buffer = layout.buffer;
    let texel = i128::from(image.format.size());
    let row = i128::from(image.row_bytes());
    let multiple = |field: &'static str, expr: &Expr| {
        let value = number(field, expr, scope, place)?;
        if value % texel == 0 {
            return Ok(value);
        }
        let message = format!("{field} {value} is no multiple of the {texel} bytes of a texel");
        Err(place.field(field).error(message))
    };
    let pitch = layout.pitch.map_or(Ok(row), |pitch| multiple("pitch", pitch))?;
    if pitch < row || pitch > i128::from(u32::MAX) {
        let message = format!("a pitch of {pitch} bytes is out of range: a row has {row}");
        return Err(place.field("pitch").error(message));
    }
    image.pitch = pitch as u64;
    let offset = multiple("offset", layout.offset)?;
    let target = scope.memory(buffer).map_err(|message| place.field("buffer").error(message))?;
    let rows = [image.extent[1], image.extent[2], image.layers].into_iter().map(i128::from).product::<i128>();
    let end = offset + (rows - 1) * pitch + row;
    if offset < 0 || end > target.size.into() {
        let message =
            format!("bytes {offset} to {end} are outside of `{buffer}`, which has {} bytes", target.size);
        return Err(place
            .error(message)
            .hint("the last row takes the bytes of its texels, each other row takes the pitch"));
    }
    if target.address < GLOBALS_BASE {
        let message = format!("`{buffer}` is in constant memory");
        return Err(place.field("buffer").error(message).hint("texels lie in global memory"));
    }
    image.address = target.address + offset as u64;
    Ok(())
}

/// Returns the value of an expression in this field.
fn number(field: &'static str, expr: &Expr, scope: &Scope, place: &Place) -> Result<i128, Diagnostic> {
    expr.eval(scope.names).map_err(|message| place.field(field).error(message))
}

fn sampler(spec: &TextureSpec, geometry: Geometry, place: &Place) -> Result<Sampler, Diagnostic> {
    let dims = usize::from(geometry.dims);
    let mut address = [AddressMode::default(); 3];
    match spec.address.as_slice() {
        [] => {}
        [all] => address = [*all; 3],
        each if each.len() == dims => address[..dims].copy_from_slice(each),
        each => {
            let message = format!("{} address modes, the texture has {dims} dimensions", each.len());
            return Err(place.field("address").error(message).hint("one for each, or one for all"));
        }
    }
    if spec.filter == Filter::Linear && !spec.elem.gives_float(spec.read) {
        let problem = place.field("filter").error("a linear filter mixes floating-point numbers");
        let hint = "elem: F32 or F16, or read: NormalizedFloat for integers of 8 and 16 bits";
        return Err(problem.hint(hint));
    }
    if spec.srgb {
        let problem = place.field("srgb").error("sRGB textures are not simulated");
        return Err(problem.hint("put linear values into the buffer"));
    }
    let TextureSpec { filter, normalized, read, .. } = *spec;
    Ok(Sampler { address, filter, normalized, read })
}

/// Reports references of the kernel that no image is bound to.
pub(in crate::program) fn check_references(
    launch: &Launch,
    program: &KernelCode,
    place: &Place,
    problems: &mut Diagnostics,
) {
    for reference in &program.references {
        let (field, kind_name) =
            if reference.surface { ("surfaces", "surface") } else { ("textures", "texture") };
        let bound = launch.images.iter().find(|bound| bound.handle == reference.handle);
        let message = match bound {
            Some(bound) if bound.sampler.is_none() == reference.surface => continue,
            Some(bound) => format!("`{}` is a {kind_name} reference of `{}`", bound.name, program.name),
            None => format!(
                "nothing is bound to the {kind_name} reference `{}` of `{}`",
                names::shown(&reference.name),
                program.name
            ),
        };
        let list = template::arguments(program);
        let example = list.image(&reference.name).unwrap_or_default();
        problems
            .push(place.field(field).error(message).hint(format!("in `{field}`, to be adapted: {example}")));
    }
}
