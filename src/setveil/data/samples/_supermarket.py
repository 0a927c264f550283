"""The items of `sample:supermarket`; `samples` draws the baskets.

A word with braces expands to several items: `oat-milk-{1l,500ml}` means `oat-milk-1l` and `oat-milk-500ml`. Within a
category, items are in order of popularity; the number before them is the weight of the category. A leading `!` marks a
sensitive item.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

_SHELVES: dict[str, dict[str, str]] = {
    "produce": {
        "fruit": """9
            bananas-{loose,5-pack} {gala,braeburn,granny-smith,pink-lady}-apples-6-pack conference-pears-4-pack
            {red,white}-grapes-500g {nectarines,peaches,plums}-{4-pack,punnet}""",
        "citrus-fruit": """6
            lemons-4-pack easy-peelers-600g oranges-5-pack limes-4-pack {red,white}-grapefruit-each
            {clementines,satsumas}-{600g,1kg} blood-oranges-4-pack pomelo-each""",
        "berries": """5
            strawberries-{400g,227g} blueberries-{200g,400g} raspberries-{150g,250g} blackberries-150g
            mixed-berries-300g cherries-250g redcurrants-125g gooseberries-200g""",
        "exotic-fruit": """3
            avocado-{2-pack,each} mango-{each,chunks-180g} pineapple-{each,chunks-250g} kiwi-6-pack
            {galia,cantaloupe}-melon-each watermelon-each pomegranate-each passion-fruit-3-pack papaya-each
            lychees-250g""",
        "vegetables": """8
            broccoli-{350g,500g} carrots-{1kg,500g} courgettes-3-pack cauliflower-each green-beans-200g leeks-500g
            {white,red,savoy}-cabbage-each aubergine-each asparagus-tips-150g kale-250g sweetcorn-cobs-2-pack
            fennel-each""",
        "salad": """7
            cucumber-{each,half} {cherry,vine,plum,beef}-tomatoes-{300g,500g} iceberg-lettuce-each rocket-80g
            baby-spinach-{200g,400g} mixed-peppers-3-pack radishes-200g celery-each spring-onions-bunch
            watercress-100g""",
        "potatoes-and-onions": """6
            {brown,red}-onions-1kg {white,baking,baby}-potatoes-{1kg,2kg} garlic-4-pack sweet-potatoes-1kg
            shallots-300g beetroot-500g parsnips-500g swede-each celeriac-each ginger-root-100g""",
        "fresh-herbs-and-mushrooms": """3
            {chestnut,white}-mushrooms-{250g,400g} {coriander,basil,parsley,mint,chives,dill,thyme,rosemary}-30g
            portobello-mushrooms-2-pack shiitake-mushrooms-120g""",
    },
    "dairy-and-eggs": {
        "milk": """9
            {semi-skimmed,whole,skimmed}-milk-{2l,1l,500ml} {organic-whole,lactose-free,goats}-milk-1l
            buttermilk-300ml kefir-500ml""",
        "plant-milk": """3
            {oat,almond,soya,coconut,rice}-milk-1l {oat,almond,soya}-milk-unsweetened-1l barista-oat-milk-1l""",
        "yoghurt": """6
            greek-yoghurt-{500g,1kg} {strawberry,vanilla,peach,cherry}-yoghurt-{4-pack,450g} natural-yoghurt-500g
            skyr-450g protein-yoghurt-200g soya-yoghurt-400g yoghurt-drink-8-pack""",
        "cheese": """7
            {mild,mature,extra-mature}-cheddar-{350g,550g} mozzarella-125g parmesan-wedge-200g cheddar-slices-200g
            feta-200g halloumi-225g cream-cheese-180g {brie,camembert}-200g goats-cheese-100g cottage-cheese-300g
            gouda-slices-160g stilton-150g""",
        "butter-and-cream": """6
            {salted,unsalted}-butter-250g spreadable-butter-{250g,500g} {single,double,whipping}-cream-{150ml,300ml}
            sour-cream-200ml creme-fraiche-200ml sunflower-spread-500g vegan-spread-450g""",
        "eggs": """7
            free-range-eggs-{12,6,15}-pack organic-eggs-6-pack barn-eggs-10-pack quail-eggs-12-pack egg-whites-500ml""",
    },
    "bakery": {
        "bread": """9
            {wholemeal,white,seeded}-sliced-loaf-{800g,400g} sourdough-loaf-{white,rye} baguette-{white,granary}
            rye-bread-500g gluten-free-loaf-400g""",
        "rolls-and-bagels": """5
            white-rolls-6-pack burger-buns-6-pack hot-dog-rolls-6-pack {plain,sesame,cinnamon}-bagels-5-pack
            english-muffins-4-pack crumpets-6-pack ciabatta-rolls-4-pack brioche-buns-4-pack""",
        "flatbreads-and-wraps": """4
            tortilla-wraps-8-pack {plain,garlic}-naan-2-pack pitta-bread-6-pack wholemeal-wraps-8-pack
            corn-tortillas-12-pack flatbreads-4-pack taco-shells-12-pack poppadoms-8-pack""",
        "pastries": """4
            {butter,chocolate,almond}-croissants-{4-pack,each} pain-au-chocolat-4-pack cinnamon-swirl-each
            {apple,cherry}-turnover-2-pack {jam,ring}-doughnuts-5-pack hot-cross-buns-6-pack scones-4-pack""",
        "cakes": """3
            {chocolate,blueberry,lemon}-muffins-4-pack carrot-cake-400g victoria-sponge-400g brownies-9-pack
            lemon-drizzle-cake-350g birthday-cake-1kg fruit-cake-700g flapjacks-5-pack""",
    },
    "meat-and-fish": {
        "poultry": """6
            chicken-breast-{650g,300g} chicken-thighs-{1kg,500g} whole-chicken-1-6kg chicken-mince-500g
            chicken-wings-1kg chicken-drumsticks-1kg turkey-mince-500g turkey-steaks-400g duck-breast-2-pack""",
        "beef-and-lamb": """5
            beef-mince-{500g,750g} beef-burgers-4-pack {sirloin,rump,ribeye}-steak-225g diced-beef-400g
            beef-roasting-joint-1kg lamb-mince-500g lamb-chops-400g lamb-leg-half""",
        "pork-and-sausages": """5
            pork-sausages-8-pack {smoked,unsmoked}-bacon-{300g,10-pack} pork-chops-500g pork-mince-500g
            chorizo-ring-225g {chipolata,cumberland}-sausages-12-pack frankfurters-10-pack gammon-joint-750g
            pork-belly-500g""",
        "cooked-meats": """4
            {honey-roast,smoked,breaded}-ham-{125g,240g} salami-100g prosciutto-90g cooked-chicken-slices-200g
            turkey-slices-150g pepperoni-100g pate-175g roast-beef-slices-120g""",
        "fish-and-seafood": """4
            salmon-fillets-{2-pack,4-pack} smoked-salmon-100g cod-fillets-2-pack king-prawns-{150g,300g}
            smoked-mackerel-200g sea-bass-fillets-2-pack tuna-steaks-2-pack mussels-1kg crab-sticks-250g
            trout-fillets-2-pack""",
        "meat-free": """3
            {firm,smoked,silken}-tofu-280g vegan-{burgers,sausages,mince,nuggets}-300g falafel-200g tempeh-200g
            seitan-pieces-200g halloumi-burgers-2-pack""",
    },
    "frozen": {
        "frozen-vegetables": """5
            frozen-{peas,sweetcorn,mixed-vegetables,spinach,broccoli,green-beans}-{1kg,500g} oven-chips-{1-5kg,900g}
            hash-browns-700g roast-potatoes-800g potato-waffles-10-pack sweet-potato-fries-500g""",
        "pizza-and-ready-meals": """5
            {margherita,pepperoni,vegetable,four-cheese}-pizza-{thin,deep-pan} frozen-lasagne-{400g,1kg}
            frozen-{shepherds-pie,macaroni-cheese,chicken-curry,vegetable-chilli}-400g garlic-bread-2-pack""",
        "frozen-fish-and-meat": """4
            fish-fingers-{10,20}-pack breaded-cod-4-pack battered-haddock-4-pack scampi-250g frozen-prawns-300g
            chicken-nuggets-{450g,1kg} frozen-salmon-fillets-4-pack chicken-kiev-2-pack""",
        "ice-cream": """5
            {vanilla,chocolate,strawberry,mint-choc-chip,cookie-dough,salted-caramel}-ice-cream-{900ml,500ml}
            chocolate-ice-creams-4-pack fruit-lollies-8-pack mango-sorbet-500ml frozen-berries-400g""",
    },
    "pantry": {
        "pasta": """6
            spaghetti-{500g,1kg} {penne,fusilli,macaroni,farfalle,linguine}-500g lasagne-sheets-375g
            wholewheat-penne-500g gluten-free-fusilli-500g fresh-{tagliatelle,ravioli,tortellini}-300g gnocchi-500g""",
        "rice-noodles-and-grains": """5
            basmati-rice-{1kg,2kg} long-grain-rice-1kg microwave-rice-{plain,pilau,wholegrain}-250g egg-noodles-250g
            rice-noodles-300g couscous-500g quinoa-300g risotto-rice-500g bulgur-wheat-500g red-lentils-500g""",
        "cooking-sauces": """5
            tomato-basil-sauce-350g {tikka-masala,korma,madras,jalfrezi}-sauce-500g red-pesto-190g green-pesto-190g
            {arrabbiata,bolognese,carbonara}-sauce-350g sweet-and-sour-sauce-400g thai-{green,red}-curry-paste-180g
            black-bean-sauce-120g""",
        "tins": """6
            {chopped,plum}-tomatoes-{400g,4-pack} baked-beans-{415g,4-pack} tuna-in-{brine,oil}-145g chickpeas-400g
            kidney-beans-400g coconut-milk-400ml tinned-sweetcorn-200g {tomato,chicken,mushroom}-soup-400g
            tinned-{peaches,pineapple}-410g sardines-120g black-beans-400g""",
        "oils-and-condiments": """5
            olive-oil-{500ml,1l} ketchup-{460g,700g} mayonnaise-{400ml,750ml} sunflower-oil-1l soy-sauce-150ml
            {english,dijon,wholegrain}-mustard-180g {balsamic,white-wine,malt}-vinegar-250ml barbecue-sauce-480g
            hot-sauce-150ml rapeseed-oil-1l sesame-oil-150ml""",
        "herbs-spices-and-stock": """3
            {chicken,vegetable,beef}-stock-cubes-12-pack black-pepper-50g sea-salt-350g fajita-seasoning-30g
            ground-{cumin,turmeric,coriander,cinnamon,ginger,paprika}-40g chilli-flakes-30g
            dried-{oregano,basil,thyme}-15g curry-powder-80g gravy-granules-170g""",
        "home-baking": """4
            {plain,self-raising,strong-white,wholemeal}-flour-1-5kg {granulated,caster,icing,brown}-sugar-1kg
            baking-powder-170g vanilla-extract-38ml cocoa-powder-250g dried-yeast-8-pack dark-cooking-chocolate-150g
            ground-almonds-200g sultanas-500g golden-syrup-454g""",
        "breakfast-cereals": """5
            porridge-oats-{1kg,500g} {corn,bran,honey-corn}-flakes-{500g,750g} wheat-biscuits-{24,48}-pack
            {fruit,nut,no-added-sugar}-muesli-750g {chocolate,maple,berry}-granola-400g rice-puffs-450g
            instant-porridge-10-pack""",
        "spreads": """4
            {smooth,crunchy}-peanut-butter-{340g,700g} {strawberry,raspberry,apricot}-jam-340g
            honey-{squeezy,set}-340g hazelnut-spread-350g marmalade-454g yeast-extract-250g lemon-curd-320g
            almond-butter-170g""",
    },
    "snacks-and-sweets": {
        "crisps": """6
            {salted,cheese-and-onion,salt-and-vinegar,prawn-cocktail}-crisps-{6-pack,150g} tortilla-chips-200g
            {salted,sweet}-popcorn-100g pretzels-175g vegetable-crisps-100g rice-cakes-130g""",
        "dips": """3
            houmous-{200g,300g} guacamole-200g salsa-dip-200g tzatziki-200g red-pepper-houmous-200g
            sour-cream-and-chive-dip-200g olives-{green,black}-150g""",
        "nuts-and-dried-fruit": """4
            {salted,dry-roasted}-peanuts-200g {almonds,cashews,walnuts,pistachios}-{200g,500g} mixed-nuts-200g
            raisins-{500g,14-pack} dried-{apricots,mango,dates,cranberries}-200g trail-mix-150g""",
        "chocolate": """7
            milk-chocolate-bar-{100g,180g} dark-chocolate-{70,85}-percent-100g white-chocolate-bar-100g
            {caramel,peanut,coconut,wafer,nougat}-bar-{4-pack,each} chocolate-truffles-200g chocolate-buttons-120g
            vegan-chocolate-100g""",
        "sweets-and-gum": """4
            mint-gum-{10-pack,bottle} sugar-free-mint-gum-10-pack gummy-bears-175g wine-gums-190g
            fruit-pastilles-150g liquorice-allsorts-165g marshmallows-150g boiled-mints-120g toffees-150g
            jelly-beans-200g lollipops-10-pack""",
        "biscuits-and-crackers": """5
            digestive-biscuits-{400g,250g} chocolate-digestives-{300g,433g}
            {custard-cream,bourbon,ginger-nut}-biscuits-300g shortbread-160g oat-biscuits-300g cream-crackers-300g
            oatcakes-250g rich-tea-biscuits-300g cereal-bars-6-pack choc-chip-cookies-200g""",
    },
    "drinks": {
        "water": """5
            {still,sparkling}-water-{6-pack,1-5l,500ml} lemon-flavoured-water-1l tonic-water-1l soda-water-1l
            coconut-water-1l""",
        "juice-and-squash": """5
            orange-juice-{smooth,with-bits}-{1l,1-75l} apple-juice-1l
            {cranberry,tomato,pineapple,grapefruit}-juice-1l
            {orange,blackcurrant,lemon}-squash-{1l,no-added-sugar-1l} {mango,berry,green}-smoothie-750ml""",
        "soft-drinks": """7
            {cola,diet-cola,zero-cola}-{8-pack,2l,500ml} {lemonade,orangeade,ginger-ale,ginger-beer}-2l
            energy-drink-{250ml,4-pack} sugar-free-energy-drink-250ml sports-drink-500ml iced-tea-peach-1-5l
            kombucha-330ml""",
        "coffee": """5
            instant-coffee-{100g,200g} ground-coffee-{227g,decaf-227g} coffee-beans-{227g,1kg}
            {espresso,lungo,decaf,latte}-coffee-pods-{10,16}-pack iced-latte-220ml filter-papers-80-pack""",
        "tea": """5
            everyday-tea-{80,240}-bags {green,earl-grey,peppermint,camomile,rooibos,decaf}-tea-{20,40}-bags
            hot-chocolate-400g malted-drink-400g lemon-and-ginger-tea-20-bags""",
        "beer-and-cider": """5
            lager-{4-pack,12-pack,bottle} pale-ale-{4-pack,bottle} ipa-{4-pack,bottle} stout-4-pack wheat-beer-500ml
            {apple,pear,berry}-cider-{4-pack,500ml} alcohol-free-lager-4-pack""",
        "wine": """5
            {sauvignon-blanc,pinot-grigio,chardonnay,merlot,malbec,rioja,shiraz,rose,prosecco}-75cl champagne-75cl
            sauvignon-blanc-3-bottles merlot-box-2-25l port-75cl alcohol-free-wine-75cl""",
        "spirits": """3
            {gin,vodka,whisky,white-rum,dark-rum,brandy}-{70cl,35cl} pink-gin-70cl tequila-70cl
            gin-and-tonic-cans-4-pack""",
    },
    "household": {
        "laundry": """4
            {bio,non-bio,colour}-laundry-{liquid-1l,capsules-30-pack,powder-2kg}
            fabric-softener-{fresh,sensitive}-1l stain-remover-500g dryer-sheets-40-pack""",
        "cleaning": """4
            washing-up-liquid-{original,lemon}-500ml {kitchen,bathroom,glass,multi-surface}-cleaner-750ml
            bleach-750ml dishwasher-tablets-{30,60}-pack sponge-scourers-6-pack floor-cleaner-1l
            limescale-remover-500ml rubber-gloves-pair""",
        "paper-goods": """6
            toilet-paper-{9,16,24}-rolls kitchen-roll-{2,4}-pack tissues-{box,pocket-6-pack} paper-napkins-50-pack
            moist-toilet-tissue-40-pack""",
        "wraps-bags-and-batteries": """3
            bin-liners-{30l,50l}-20-pack cling-film-30m kitchen-foil-10m baking-paper-10m freezer-bags-40-pack
            {aa,aaa}-batteries-8-pack led-bulb-{e27,b22} matches-3-pack tea-lights-50-pack scented-candle-vanilla
            reusable-bag""",
    },
    "body-care": {
        "hair-care": """4
            {moisture,volume,anti-dandruff,colour-care,kids}-shampoo-{400ml,250ml}
            {moisture,volume,colour-care}-conditioner-400ml hair-gel-200ml hairspray-300ml dry-shampoo-200ml
            {black,brown,blonde}-hair-dye-kit""",
        "oral-care": """4
            {fresh-mint,whitening,sensitive,kids}-toothpaste-75ml {soft,medium}-toothbrush-2-pack
            mouthwash-{500ml,1l} dental-floss-50m interdental-brushes-10-pack electric-brush-heads-4-pack
            denture-tablets-30-pack""",
        "shower-and-skin": """4
            {coconut,citrus,mens,sensitive}-shower-gel-{250ml,500ml} hand-soap-{250ml,refill-500ml}
            roll-on-deodorant-{women,men} body-lotion-400ml hand-cream-75ml lip-balm day-cream-50ml
            sun-cream-spf-{30,50}-200ml cotton-pads-80-pack bar-soap-4-pack""",
        "shaving-and-hygiene": """3
            disposable-razors-10-pack razor-blades-{4,8}-pack shaving-foam-250ml {regular,super}-tampons-20-pack
            {day,night}-sanitary-pads-14-pack panty-liners-30-pack !incontinence-{pads,pants}-12-pack
            aftershave-balm-100ml""",
    },
    "pharmacy": {
        "pain-relief": """4
            paracetamol-16-tablets ibuprofen-16-tablets aspirin-32-tablets ibuprofen-gel-50g
            paracetamol-children-100ml migraine-tablets-12-pack heat-patches-4-pack""",
        "cold-and-allergy": """3
            throat-lozenges-{honey,menthol} cough-syrup-150ml cold-and-flu-capsules-16-pack nasal-spray-15ml
            hay-fever-tablets-30-pack lemon-cold-drink-10-sachets vapour-rub-50g""",
        "vitamins": """3
            multivitamin-90-tablets vitamin-{c,d,b12}-90-tablets omega-3-60-capsules iron-90-tablets
            magnesium-60-tablets folic-acid-90-tablets zinc-90-tablets probiotic-30-capsules glucosamine-60-tablets""",
        "digestion-and-first-aid": """2.5
            plasters-40-pack antacid-24-tablets antiseptic-cream-30g rehydration-6-sachets laxative-20-tablets
            anti-diarrhoea-6-capsules bandage-10cm !haemorrhoid-cream-25g !worming-tablets-4-pack
            !lice-treatment-150ml""",
        "pregnancy-and-fertility": """1.2
            !pregnancy-test-{2,1,3}-pack !digital-pregnancy-test-2-pack !ovulation-test-{7,20}-pack
            !pregnancy-vitamins-30-tablets !emergency-contraceptive-1-tablet !fertility-lubricant-75ml""",
        "sexual-health": """1.2
            !condoms-{12,24}-pack !condoms-latex-free-12-pack !lubricant-{75ml,200ml} !hiv-self-test
            !chlamydia-home-test !thrush-cream-20g !thrush-capsule-1-pack !cystitis-relief-6-sachets
            !erectile-dysfunction-4-tablets""",
        "stop-smoking": """1
            !nicotine-patches-step-{1,2,3}-7-pack !nicotine-gum-{2mg,4mg}-105-pack !nicotine-lozenges-20-pack
            !nicotine-spray-150-doses !nicotine-inhaler-20-pack""",
        "sleep-and-calm": """1.2
            !sleeping-tablets-20-pack !herbal-sleep-aid-30-tablets !valerian-60-capsules !st-johns-wort-30-tablets
            !anxiety-relief-drops-20ml lavender-pillow-spray-75ml ear-plugs-10-pack eye-mask""",
        "hair-and-skin-treatment": """1
            !hair-loss-{foam-60ml,solution-60ml,shampoo-250ml} !acne-gel-30g !acne-patches-36-pack
            !psoriasis-cream-50g !wart-remover-15ml !fungal-nail-lacquer-3ml !cold-sore-cream-2g
            athletes-foot-cream-30g""",
    },
    "baby": {
        "nappies-and-wipes": """3
            baby-wipes-{sensitive,fragrance-free}-{80,480}-pack nappies-size-{3,4,5,2,1}-{44,88}-pack
            nappy-pants-size-5-40-pack nappy-sacks-100-pack nappy-cream-100g""",
        "baby-food": """2.5
            {first,follow-on}-infant-milk-800g {apple,banana,carrot,pear,chicken-and-rice}-baby-puree-{100g,6-pack}
            baby-rice-100g baby-porridge-240g rusks-24-pack maize-puffs-20g""",
        "baby-care": """1.5
            baby-{shampoo,lotion,oil,bath}-{200ml,500ml} cotton-wool-balls-100-pack dummies-2-pack
            feeding-bottle-260ml""",
    },
    "pets": {
        "cat-food": """4
            cat-food-pouches-{fish,meat,mixed}-{12,40}-pack dry-cat-food-{chicken,tuna,kitten}-{800g,2kg}
            cat-treats-60g cat-milk-200ml cat-litter-{clumping,wood}-10l""",
        "dog-food": """4
            dog-food-tins-{beef,chicken,mixed}-{6,12}-pack dry-dog-food-{adult,puppy,senior}-{2kg,10kg}
            dental-sticks-28-pack dog-biscuits-400g poo-bags-100-pack chew-bones-3-pack""",
        "small-pets-and-birds": """1.5
            {rabbit,hamster,guinea-pig}-food-1kg hay-1kg wood-shavings-2kg bird-seed-2kg fat-balls-6-pack
            fish-flakes-50g""",
    },
}

BUNDLES: dict[tuple[str, ...], float] = {
    ("spaghetti-500g", "tomato-basil-sauce-350g", "parmesan-wedge-200g"): 0.04,
    ("tortilla-wraps-8-pack", "fajita-seasoning-30g", "sour-cream-200ml", "mixed-peppers-3-pack"): 0.03,
    ("beef-burgers-4-pack", "burger-buns-6-pack", "cheddar-slices-200g"): 0.03,
    ("basmati-rice-1kg", "tikka-masala-sauce-500g", "plain-naan-2-pack", "chicken-breast-650g"): 0.03,
    ("tortilla-chips-200g", "guacamole-200g", "salsa-dip-200g"): 0.025,
    ("porridge-oats-1kg", "blueberries-200g", "honey-squeezy-340g"): 0.025,
    ("self-raising-flour-1-5kg", "caster-sugar-1kg", "baking-powder-170g", "free-range-eggs-12-pack"): 0.025,
    ("egg-noodles-250g", "soy-sauce-150ml", "spring-onions-bunch"): 0.02,
    ("gin-70cl", "tonic-water-1l", "lemons-4-pack"): 0.02,
    ("nappies-size-3-44-pack", "baby-wipes-sensitive-80-pack"): 0.02,
    ("cat-food-pouches-fish-12-pack", "cat-litter-clumping-10l"): 0.02,
    ("paracetamol-16-tablets", "throat-lozenges-honey", "tissues-box"): 0.02,
    ("bio-laundry-liquid-1l", "fabric-softener-fresh-1l"): 0.015,
    ("pregnancy-test-2-pack", "folic-acid-90-tablets"): 0.008,
    ("nicotine-patches-step-1-7-pack", "sugar-free-mint-gum-10-pack"): 0.006,
    ("sleeping-tablets-20-pack", "camomile-tea-20-bags"): 0.006,
}
"""Bundles of items, and the share of people who want each."""


@dataclass(frozen=True)
class Item:
    """An item of the shop."""

    label: str
    category: str
    department: str
    sensitive: bool
    appeal: float
    """The weight of the category divided by the rank of the item in it; higher means more popular."""


def spellings(word: str) -> list[str]:
    """Return the items that a word with braces expands to.

    >>> spellings("oat-milk-{1l,500ml}")
    ['oat-milk-1l', 'oat-milk-500ml']
    """
    return ["".join(parts) for parts in itertools.product(*(part.split(",") for part in re.split("[{}]", word)))]


def items() -> list[Item]:
    """Return all items, department by department and category by category."""
    found = []
    for department, categories in _SHELVES.items():
        for category, text in categories.items():
            pull, *words = text.split()
            marked = [spelling for word in words for spelling in spellings(word)]
            for place, label in enumerate(marked, start=1):
                sensitive = label.startswith("!")
                found.append(Item(label.removeprefix("!"), category, department, sensitive, float(pull) / place))
    return found
